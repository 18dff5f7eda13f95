package txnlog

import "github.com/gocurator/curator/framework/zktest"

// ReadEnsemble returns what an ensemble has executed, in the order of zxids. Each directory is one that Read takes, of
// a server that votes; one without a log has none of the transactions. The servers should be idle or have ended. If a
// server has lost its log, as with a new disk, transactions may be missing. The errors are those of Read, and that a
// transaction is another one in the log of another server.
//
// The log of one server may have more: what a leader that was deposed has proposed, and no other leader has taken over.
// And it may have less, since a server that comes back far behind gets a snapshot. So neither one log nor what most of
// them have is the answer. The upper half of a zxid is the epoch, in which one leader gives out the numbers of the
// lower half: what was executed of it is everything up to the last zxid that the next leader knew. That stands before
// the first transaction of the next epoch in this leader's log. Other servers that have logged this first transaction
// have a lower zxid before it, or the same: what is higher has to go before they may take part. In the log of a server
// that comes later, with a snapshot, it may have stayed.
func ReadEnsemble(dirs ...string) ([]zktest.Transaction, error) {
	servers, err := findAll(dirs)
	if err != nil {
		return nil, err
	}
	return readExecuted(servers)
}
