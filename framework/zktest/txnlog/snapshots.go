package txnlog

import (
	"cmp"
	"slices"
)

// readOldest reads the nodes that are older than the logs. A snapshot just before the logs has them. So does a later
// one, together with what the logs delete until then, which addMissed adds. What the logs create is left to them, so it
// does not matter which of the transactions after its zxid a snapshot has.
func (l *Log) readOldest(x *executed) {
	first := int64(0)
	x.peek(func(c *cursor) { first = c.zxid() })
	for _, s := range snapshotsFor(l.snapshots, first) {
		before, err := l.readNodes(s, first)
		if err != nil {
			l.addNote(Note{Kind: Damaged, File: s.name, Err: err})
			continue
		}
		l.before = before
		if from, to := gapBetween(s.first, first); s.first < first && from <= to {
			l.addGap(from, to)
		}
		return
	}
}

// snapshotsFor returns snapshots in the order in which they serve to know what was there before a transaction: those
// just before it, the later ones, the oldest first, and those with a gap behind them, the newest first.
func snapshotsFor(snapshots []logFile, first int64) []logFile {
	rank := func(s logFile) int {
		from, to := gapBetween(s.first, first)
		switch {
		case s.first >= first:
			return 1
		case from > to:
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

// readNodes returns the creations of the nodes that are older than a zxid, in order.
func (l *Log) readNodes(s logFile, olderThan int64) (list []Transaction, err error) {
	err = readSnapshot(s.name, l.in, func(n node) {
		if n.czxid < olderThan {
			list = append(list, Transaction{
				Zxid: n.czxid, At: n.ctime, Session: n.owner,
				Changes: []Change{{Kind: Created, Path: n.path, Owner: n.owner, Data: n.data}},
			})
		}
	})
	slices.SortStableFunc(list, func(a, b Transaction) int { return cmp.Compare(a.Zxid, b.Zxid) })
	return list, err
}

// addVanished adds the deletions of nodes that must have gone in a gap: the newest whole snapshot after it lacks them,
// and no log deletes them. Without such a snapshot they stay, and the note on the gap warns.
func (l *Log) addVanished(left map[string]origin) {
	if len(l.gaps) == 0 {
		return
	}
	there, at, ok := l.newestNodes()
	if !ok {
		return
	}
	var gone []string
	for path, from := range left {
		if !there[path] && from.czxid < at {
			gone = append(gone, path)
		}
	}
	slices.Sort(gone)
	for _, path := range gone {
		i := slices.IndexFunc(l.gaps, func(g Note) bool { return g.First > left[path].czxid && g.Last <= at })
		if i >= 0 {
			l.filled[i] = append(l.filled[i], Transaction{Zxid: l.gaps[i].Last, Changes: []Change{{Kind: Deleted, Path: path}}})
		}
	}
}

// newestNodes returns the paths in the newest whole snapshot, and its zxid.
func (l *Log) newestNodes() (there map[string]bool, at int64, ok bool) {
	sorted := slices.SortedFunc(slices.Values(l.snapshots), func(a, b logFile) int { return cmp.Compare(b.first, a.first) })
	for _, s := range sorted {
		there = map[string]bool{}
		if readSnapshot(s.name, l.in, func(n node) { there[n.path] = true }) == nil {
			return there, s.first, true
		}
	}
	return nil, 0, false
}
