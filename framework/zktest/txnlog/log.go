package txnlog

import (
	"fmt"
	"iter"
	"os"
	"slices"
	"time"
)

// A Log is what the files of one server, or of several servers of one ensemble, say about a part of the tree. It keeps
// no transactions: it reads the files each time. It is for one goroutine at a time.
type Log struct {
	// First and Last are the first and the newest transaction that was executed, of all; zero if there is none.
	First, Last Moment
	// Notes say what is wrong in the files, or missing, in the order in which they were read; at most 100 of them.
	Notes []Note
	// MoreNotes is how many there are beyond.
	MoreNotes int

	in        scope
	servers   []serverFiles
	ends      map[int64]int64
	gaps      []Note
	before    []Transaction         // nodes that are older than the logs
	filled    map[int][]Transaction // by gap: what must have happened in it
	snapshots []logFile
}

// A Moment is when a transaction was executed, by the clock of its leader.
type Moment struct {
	Zxid int64
	At   time.Time
}

// mostNotes bounds Log.Notes.
const mostNotes = 100

// Open finds the logs and the snapshots in the directories of servers, and reads them once, for what Transactions
// needs. It follows the nodes at and below a path, "/" for all. A directory is one that a server calls version-2, or
// the one above it. If a server keeps its snapshots elsewhere, that is another directory.
//
// It blocks while it reads, takes memory for the nodes below the path that are there at one time, and may run beside
// the servers. It fails if no directory has a log, with an error that is os.ErrNotExist. What is damaged or missing is
// no error: see Notes.
func Open(path string, dirs ...string) (*Log, error) {
	found, err := findAll(dirs)
	if err != nil {
		return nil, err
	}
	l := &Log{in: scope(path), filled: map[int][]Transaction{}}
	for _, s := range found {
		l.snapshots = append(l.snapshots, s.snapshots...)
		switch {
		case len(s.logs) > 0:
			l.servers = append(l.servers, s)
		case len(s.snapshots) == 0:
			l.addNote(Note{Kind: NoLog, File: s.dir})
		}
	}
	if len(l.servers) == 0 {
		return nil, fmt.Errorf("txnlog: find the logs in %q: %w", dirs, os.ErrNotExist)
	}
	l.look()
	return l, nil
}

func (l *Log) addNote(n Note) {
	if len(l.Notes) < mostNotes {
		l.Notes = append(l.Notes, n)
	} else {
		l.MoreNotes++
	}
}

// look reads everything once: which transactions were executed, what no log has, and which nodes went whose creation
// was not seen.
func (l *Log) look() {
	x := newExecuted(l.servers, l.addNote)
	l.ends = x.ends
	l.readOldest(x)
	known := owners{}
	for _, t := range l.before {
		known.complete(&t)
	}
	known.missed = func(path string, owner int64) { l.addMissed(path, owner) }
	x.each(func(c *cursor) bool {
		l.passed(c)
		t, ok := c.decode(l.in)
		if !ok || len(t.Changes) == 0 && !t.EndsSession {
			return true
		}
		known.complete(&t)
		return true
	})
	l.addVanished(known.of)
}

// passed notes a gap between the newest transaction and the next, and goes to that.
func (l *Log) passed(c *cursor) {
	now := Moment{c.zxid(), c.time()}
	if l.First == (Moment{}) {
		l.First = now
	} else if from, to := gapBetween(l.Last.Zxid, now.Zxid); from <= to {
		l.addGap(from, to)
	}
	l.Last = now
}

func (l *Log) addGap(from, to int64) {
	gap := Note{Kind: Gap, First: from, Last: to}
	l.gaps = append(l.gaps, gap)
	l.addNote(gap)
}

// gapBetween returns the zxids that a leader has given out between two; from is greater than to if there are none. How
// many an earlier leader gave out is not known.
func gapBetween(before, next int64) (from, to int64) {
	if epoch(before) == epoch(next) {
		return before + 1, next - 1
	}
	return epoch(next)<<32 + 1, next - 1
}

// addMissed takes in a node that goes and was not seen to come: before the logs begin, or in the last gap.
func (l *Log) addMissed(path string, owner int64) {
	t := Transaction{Session: owner, Changes: []Change{{Kind: Created, Path: path, Owner: owner}}}
	if n := len(l.gaps); n > 0 {
		t.Zxid = l.gaps[n-1].Last
		l.filled[n-1] = append(l.filled[n-1], t)
		return
	}
	l.before = append(l.before, t)
}

// Transactions returns the executed transactions that change a node at or below the path, with these changes alone.
// Nodes that are older than the logs come first, each with its creation, as far as a snapshot knows it: Zxid, At,
// Owner and at most 4 KB of data. Where it is not known, Zxid and At are zero. What must have happened in a gap, by
// what is there later, stands at the gap's last zxid, and At is zero.
func (l *Log) Transactions() iter.Seq[Transaction] {
	return func(yield func(Transaction) bool) {
		known, gap := owners{}, 0
		show := func(list []Transaction) bool {
			for _, t := range list {
				t.Changes = slices.Clone(t.Changes)
				known.complete(&t)
				if !yield(t) {
					return false
				}
			}
			return true
		}
		if !show(l.before) {
			return
		}
		x := &executed{servers: l.servers, ends: l.ends, note: func(Note) {}, left: map[int]*Note{}}
		x.each(func(c *cursor) bool {
			if c.zxid() > l.Last.Zxid { // it was written after the first look
				return false
			}
			for gap < len(l.gaps) && l.gaps[gap].Last < c.zxid() {
				if !show(l.filled[gap]) {
					return false
				}
				gap++
			}
			t, ok := c.decode(l.in)
			if !ok {
				return true
			}
			known.complete(&t)
			return len(t.Changes) == 0 || yield(t)
		})
	}
}
