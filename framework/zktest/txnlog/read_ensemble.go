package txnlog

import (
	"cmp"
	"errors"
	"os"
	"slices"
)

// ReadEnsemble returns what an ensemble has executed, in the order of zxids. Each directory is one that Read takes, of
// a server that votes; one without a log has none of the transactions. The servers should be idle or have ended. The
// errors are those of Read. If a server has lost its log, as with a new disk, transactions may be missing.
//
// The log of one server may have more: what a leader that was deposed has proposed, and no other leader has taken over.
// And it may have less, since a server that comes back far behind gets a snapshot. So neither one log nor what most of
// them have is the answer. The upper half of a zxid is the epoch, in which one leader gives out the numbers of the
// lower half: what was executed of it is everything up to the last zxid that the next leader knew. That stands before
// the first transaction of the next epoch in this leader's log. Other servers that have logged this first transaction
// have a lower zxid before it, or the same: what is higher has to go before they may take part. In the log of a server
// that comes later, with a snapshot, it may have stayed.
func ReadEnsemble(dirs ...string) ([]Transaction, error) {
	logs := make([][]Transaction, len(dirs))
	for i, dir := range dirs {
		var err error
		if logs[i], err = readAsLogged(dir); err != nil && !errors.Is(err, os.ErrNotExist) {
			return nil, err
		}
	}
	ends := endsOf(logs)
	var executed []Transaction
	for _, t := range slices.SortedStableFunc(slices.Values(slices.Concat(logs...)), byZxid) {
		known := len(executed) > 0 && executed[len(executed)-1].Zxid == t.Zxid
		if !known && t.Zxid <= ends[epoch(t)] {
			executed = append(executed, t)
		}
	}
	complete(executed)
	return executed, nil
}

func epoch(t Transaction) int64 { return t.Zxid >> 32 }

// endsOf returns the last executed zxid of each epoch that had one.
func endsOf(logs [][]Transaction) map[int64]int64 {
	ends := map[int64]int64{}
	for end := newest(logs); end != 0; {
		newer := Transaction{Zxid: end}
		ends[epoch(newer)] = end
		end = 0
		first := newer.Zxid
		for _, log := range logs {
			if i := begin(log, epoch(newer)); i < len(log) {
				first = min(first, log[i].Zxid)
			}
		}
		for _, log := range logs {
			if i := begin(log, epoch(newer)); i > 0 && i < len(log) && log[i].Zxid == first {
				end = max(end, log[i-1].Zxid)
			}
		}
	}
	return ends
}

// begin returns the index of the first transaction of an epoch, or of a later one.
func begin(log []Transaction, of int64) int {
	i, _ := slices.BinarySearchFunc(log, of<<32, func(t Transaction, zxid int64) int { return cmp.Compare(t.Zxid, zxid) })
	return i
}

// newest returns the last zxid that most servers have logged.
func newest(logs [][]Transaction) (zxid int64) {
	logged := map[int64]int{}
	for _, t := range slices.Concat(logs...) {
		logged[t.Zxid]++
		if logged[t.Zxid] > len(logs)/2 {
			zxid = max(zxid, t.Zxid)
		}
	}
	return zxid
}
