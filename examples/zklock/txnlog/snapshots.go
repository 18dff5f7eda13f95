package txnlog

import (
	"cmp"
	"errors"
	"math"
	"slices"

	"github.com/gocurator/curator/framework/zktest"
)

const (
	// mostNodes and mostKept bound what is kept of one snapshot: its nodes below the path, and the bytes of their paths
	// and data. Data beyond mostKeptData is left out. A small file may decompress to any number of nodes.
	mostNodes    = 1 << 20
	mostKept     = 64 << 20
	mostKeptData = 16 << 20
)

var errTooMany = errors.New("it has too many nodes at the path and below it to be read")

// readOldest reads the nodes that are older than the logs. A snapshot just before the logs has them. So does a later
// one, together with what the logs delete until then, which addMissed adds. What the logs create is left to them, so it
// does not matter which of the transactions after its zxid a snapshot has. If the logs are empty, all nodes of the
// newest snapshot are older.
func (l *Log) readOldest(x *executed) {
	first, empty := int64(math.MaxInt64), true
	x.peek(func(c *cursor) { first, empty = c.zxid(), false })
	for _, s := range snapshotsFor(l.snapshots, first) {
		nodes, err := l.readNodes(s, func(n node) bool { return n.czxid < first })
		if err != nil {
			l.addNote(Note{Kind: Damaged, File: s.name, Err: err})
			continue
		}
		for _, n := range nodes {
			l.before = append(l.before, n.creation())
		}
		if from, to := max(s.first, epoch(first)<<32)+1, first-1; !empty && s.first < first && from <= to {
			l.addNote(Note{Kind: Gap, First: from, Last: to})
			l.gaps = append(l.gaps, gap{first: from, last: to})
		}
		return
	}
}

// snapshotsFor returns snapshots in the order in which they serve to know what was there before a transaction: those
// just before it, the later ones, the oldest first, and those with a gap behind them, the newest first.
func snapshotsFor(snapshots []logFile, first int64) []logFile {
	rank := func(s logFile) int {
		switch {
		case s.first >= first:
			return 1
		case max(s.first, epoch(first)<<32)+1 >= first:
			return 0
		default:
			return 2
		}
	}
	sorted := slices.Clone(snapshots)
	slices.SortStableFunc(sorted, func(a, b logFile) int {
		oldest := cmp.Compare(a.first, b.first)
		if rank(a) != 1 {
			oldest = -oldest
		}
		return cmp.Or(cmp.Compare(rank(a), rank(b)), oldest)
	})
	return sorted
}

// readNodes returns nodes of a snapshot by their creation.
func (l *Log) readNodes(s logFile, wanted func(node) bool) (list []node, err error) {
	kept, data := 0, 0
	err = readSnapshot(s.name, l.in, func(n node) error {
		if !wanted(n) {
			return nil
		}
		if data += len(n.data); data > mostKeptData {
			n.data = nil
		}
		if kept += len(n.path) + len(n.data); kept > mostKept || len(list) == mostNodes {
			return errTooMany
		}
		list = append(list, n)
		return nil
	})
	if err != nil {
		return nil, err
	}
	slices.SortStableFunc(list, func(a, b node) int { return cmp.Compare(a.czxid, b.czxid) })
	return list, nil
}

// creation is the transaction that a log without a gap would have.
func (n node) creation() zktest.Transaction {
	return zktest.Transaction{
		Zxid: n.czxid, At: n.ctime, Session: n.owner,
		Changes: []zktest.Change{{Kind: zktest.Created, Path: n.path, Owner: n.owner, Data: n.data}},
	}
}
