package txnlog

import (
	"cmp"
	"slices"

	"github.com/gocurator/curator/framework/zktest"
)

// mostGaps bounds the gaps that are filled. Each is noted.
const mostGaps = 10_000

// A gap is a range of zxids that no log has, and what must have happened in it.
type gap struct {
	first, last int64
	filled      []zktest.Transaction
}

// gapsBetween returns the zxids that leaders have given out between two, in order. Of the epoch of the later one, they
// are those before it. How many an earlier leader gave out is known only from snapshots, whose zxids are executed,
// ascending.
func gapsBetween(before, next int64, executed []int64) (gaps []gap) {
	for _, zxid := range executed {
		if zxid <= before || zxid >= next || epoch(zxid) == epoch(next) || !isTransaction(zxid) {
			continue
		}
		if n := len(gaps); n > 0 && epoch(gaps[n-1].last) == epoch(zxid) {
			gaps[n-1].last = zxid
			continue
		}
		gaps = append(gaps, gap{first: max(before, epoch(zxid)<<32) + 1, last: zxid})
	}
	if first := max(before, epoch(next)<<32) + 1; first < next {
		gaps = append(gaps, gap{first: first, last: next - 1})
	}
	return gaps
}

// A filler learns from snapshots what happened in gaps.
type filler struct {
	l     *Log
	known owners // the nodes that are there
	// used are the snapshots that were read whole, ascending; byGap has the number of each gap's, -1 if it has none.
	used  []logFile
	byGap []int
	// unread are snapshots that may be read for a later gap.
	unread []logFile
	nodes  []node // the last one that was read has them; they are not older than a gap
}

// passed fills the gaps between the newest transaction and the next one.
func (f *filler) passed(next int64) {
	for _, g := range gapsBetween(f.l.Last.Zxid, next, f.l.executed) {
		f.l.addNote(Note{Kind: Gap, First: g.first, Last: g.last})
		if len(f.l.gaps) == mostGaps {
			continue
		}
		f.l.gaps = append(f.l.gaps, g)
		f.byGap = append(f.byGap, f.find(g))
		if f.byGap[len(f.byGap)-1] >= 0 {
			f.fill(&f.l.gaps[len(f.l.gaps)-1])
		}
	}
}

// find returns the number of the first whole snapshot at the end of a gap or later; -1 if there is none. Its nodes are
// in f.nodes.
func (f *filler) find(g gap) int {
	if n := len(f.used) - 1; n >= 0 && f.used[n].first >= g.last {
		return n
	}
	f.nodes = nil
	for len(f.unread) > 0 {
		s := f.unread[0]
		f.unread = f.unread[1:]
		if s.first < g.last {
			continue
		}
		nodes, err := f.l.readNodes(s, func(n node) bool { return n.czxid >= g.first })
		if err != nil {
			f.l.addNote(Note{Kind: Damaged, File: s.name, Err: err})
			continue
		}
		f.nodes, f.used = nodes, append(f.used, s)
		return len(f.used) - 1
	}
	return -1
}

// fill adds the creations in a gap of nodes that a snapshot has.
func (f *filler) fill(g *gap) {
	from, _ := slices.BinarySearchFunc(f.nodes, g.first, func(n node, zxid int64) int { return cmp.Compare(n.czxid, zxid) })
	for _, n := range f.nodes[from:] {
		if n.czxid > g.last {
			return
		}
		if _, ok := f.known.of[n.path]; ok { // it went before
			f.add(g, zktest.Transaction{Zxid: max(n.czxid-1, g.first), Changes: []zktest.Change{{Kind: zktest.Deleted, Path: n.path}}})
		}
		f.add(g, n.creation())
	}
}

func (f *filler) add(g *gap, t zktest.Transaction) {
	g.filled = append(g.filled, t)
	t.Changes = slices.Clone(t.Changes)
	f.known.complete(&t)
}

// change takes in what a transaction changes.
func (f *filler) change(t *zktest.Transaction) {
	for i, c := range t.Changes {
		one, ok := f.known.of[c.Path]
		switch {
		case !ok || c.Kind == zktest.Deleted:
		case c.Kind == zktest.Created:
			if !slices.ContainsFunc(t.Changes[:i], func(earlier zktest.Change) bool { return earlier.Path == c.Path }) {
				f.vanish(c.Path, one, len(f.l.gaps)-1)
			}
		default:
			one.seen = t.Zxid
			f.known.of[c.Path] = one
		}
	}
	f.known.complete(t)
}

// vanish adds the deletion of a node to a gap, unless it was there after that.
func (f *filler) vanish(path string, one origin, number int) {
	if number < 0 || f.l.gaps[number].first <= one.seen {
		return
	}
	g := &f.l.gaps[number]
	g.filled = append(g.filled, zktest.Transaction{Zxid: g.last, Changes: []zktest.Change{{Kind: zktest.Deleted, Path: path}}})
}

// end adds the deletions of nodes that must have gone in a gap: the first snapshot behind it lacks them, and no log
// deletes them. Of several gaps before this snapshot it takes the last. Without such a snapshot they stay, and the note
// on the gap warns.
func (f *filler) end() {
	f.nodes = nil
	for number, s := range f.used {
		last := 0
		for i, n := range f.byGap {
			if n == number {
				last = i
			}
		}
		err := readSnapshot(s.name, f.l.in, func(n node) error {
			if one, ok := f.known.of[n.path]; ok && one.czxid == n.czxid {
				one.snapshot, one.seen = number+1, max(one.seen, s.first)
				f.known.of[n.path] = one
			}
			return nil
		})
		if err != nil {
			f.l.addNote(Note{Kind: Damaged, File: s.name, Err: err}) // it was whole before
			continue
		}
		var gone []string
		for path, one := range f.known.of {
			if one.snapshot != number+1 && one.seen < f.l.gaps[last].first {
				gone = append(gone, path)
			}
		}
		slices.Sort(gone)
		for _, path := range gone {
			f.vanish(path, f.known.of[path], last)
			f.known.remove(path)
		}
	}
	for i := range f.l.gaps {
		slices.SortStableFunc(f.l.gaps[i].filled, func(a, b zktest.Transaction) int { return cmp.Compare(a.Zxid, b.Zxid) })
	}
}
