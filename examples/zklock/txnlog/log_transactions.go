package txnlog

import (
	"errors"
	"fmt"
	"iter"
	"math"
	"slices"

	"github.com/gocurator/curator/framework/zktest"
)

// Transactions returns the executed transactions that change a node at or below the path, with these changes alone.
// Nodes that are older than the logs come first, each with its creation, as far as a snapshot knows it: Zxid, At,
// Owner and at most 4 KB of data. Where it is not known, Zxid and At are zero. What must have happened in a gap, by
// what is there later, stands in its place: creations that a snapshot knows, with Zxid and At, and what is not known so
// well at the last zxid that is possible, with a zero At.
//
// It blocks while it reads. What cannot be read any more, since files were removed or changed after Open, adds to
// Notes.
func (l *Log) Transactions() iter.Seq[zktest.Transaction] {
	return func(yield func(zktest.Transaction) bool) {
		r := &replay{l: l, yield: yield}
		if !r.show(l.before) {
			return
		}
		l.read.again(l.addNewDamage).each(func(c *cursor) bool {
			return c.zxid() <= l.Last.Zxid && r.next(c) // later ones were written after the first look
		})
		if r.stopped {
			return
		}
		if r.count != l.count {
			l.addNote(Note{Kind: Damaged, File: l.read.servers[0].dir, Err: fmt.Errorf("%w: %d transactions were found, "+
				"%d were there", errChanged, r.count, l.count)})
		}
		r.showGaps(math.MaxInt64)
	}
}

var errChanged = errors.New("the logs have changed while they were read")

// addNewDamage adds the damage that was not there when the logs were opened.
func (l *Log) addNewDamage(n Note) {
	if _, ok := l.damaged[damage{n.File, n.Offset}]; n.Kind == Damaged && !ok {
		l.addNote(n)
	}
}

// A replay is one reading of a log's transactions.
type replay struct {
	l       *Log
	yield   func(zktest.Transaction) bool
	known   owners
	gap     int // the number of the next one
	count   int // the transactions that were read
	stopped bool
}

// next shows what happened before a transaction, and the transaction itself. It reports whether to go on.
func (r *replay) next(c *cursor) bool {
	r.count++
	if !r.showGaps(c.zxid()) {
		return false
	}
	t, ok := c.decode(r.l.in)
	if !ok {
		return true
	}
	own(&t)
	r.known.complete(&t)
	r.stopped = len(t.Changes) > 0 && !r.yield(t)
	return !r.stopped
}

// showGaps shows what happened in the gaps before a zxid.
func (r *replay) showGaps(before int64) bool {
	for ; r.gap < len(r.l.gaps) && r.l.gaps[r.gap].last < before; r.gap++ {
		if !r.show(r.l.gaps[r.gap].filled) {
			return false
		}
	}
	return true
}

func (r *replay) show(list []zktest.Transaction) bool {
	for _, t := range list {
		t.Changes = slices.Clone(t.Changes)
		r.known.complete(&t)
		if r.stopped = !r.yield(t); r.stopped {
			return false
		}
	}
	return true
}
