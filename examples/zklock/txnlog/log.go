package txnlog

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"os"
	"slices"
	"time"

	"github.com/gocurator/curator/framework/zktest"
)

// A Log is what the files of one server, or of several servers of one ensemble, say about a part of the tree. It keeps
// no transactions: it reads the files each time. It is for one goroutine at a time.
type Log struct {
	// First and Last are the first and the newest transaction that was executed, of all; zero if there is none.
	First, Last Moment
	// Notes say what is wrong in the files, or missing, in the order in which they were read; at most 100 of them.
	// Those that are Incomplete go before others.
	Notes []Note
	// MoreNotes is how many there are beyond.
	MoreNotes int

	// Incomplete says that one of all notes is Note.Incomplete.
	Incomplete bool

	in        scope
	read      *executed
	count     int // the executed transactions
	gaps      []gap
	before    []zktest.Transaction // nodes that are older than the logs
	snapshots []logFile            // by zxid
	executed  []int64              // their zxids
	damaged   map[damage]struct{}
}

// A damage is where a note stands that a second reading need not repeat.
type damage struct {
	file   string
	offset int64
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
// the one above it. If all servers keep their snapshots elsewhere, these are as many directories more.
//
// It blocks while it reads, takes memory for the nodes below the path that are there at one time, and may run beside
// the servers. It fails if no directory has a log, with an error that is os.ErrNotExist. What is damaged or missing is
// no error: see Notes.
//
// Of several servers it leaves out only what was not executed for sure. What may have been executed is taken for that,
// with a note: unlike ReadEnsemble, Open also reads old copies, and logs of which the servers have removed the first.
// For Log.Incomplete to be false, Open needs the directories of all servers of the ensemble that vote, but for one, and
// the snapshots that servers have written beside their logs. Of five servers, two that are given can look like all.
// Directories count as those of two servers if their logs differ, or their files "myid", which is in dataDir.
func Open(path string, dirs ...string) (*Log, error) {
	l := &Log{in: scope(path), damaged: map[damage]struct{}{}}
	servers, apart, err := l.find(dirs)
	if len(servers) == 0 {
		return nil, fmt.Errorf("txnlog: find the logs in %q: %w", dirs, errors.Join(os.ErrNotExist, err))
	}
	servers = joinParts(servers)
	setVoters(servers)
	l.read = newLikely(servers, apart, l.executed, l.addNote)
	for _, s := range slices.Backward(l.read.unseen) {
		l.addNote(Note{Kind: Unseen, First: s.first, Last: s.last})
	}
	l.look()
	return l, nil
}

// find returns the servers that have logs, and the directories that have snapshots alone. It takes in all snapshots.
// The error is about directories and files that are not read, which are noted.
func (l *Log) find(dirs []string) (servers, apart []serverFiles, failed error) {
	for _, dir := range withoutTwins(dirs) {
		s, err := findFiles(dir)
		if err != nil {
			failed = errors.Join(failed, err)
			l.addNote(Note{Kind: Damaged, File: s.dir, Err: err})
			continue
		}
		for _, name := range s.compressed {
			failed = errors.Join(failed, fmt.Errorf("%s: %w", name, errCompressed))
			l.addNote(Note{Kind: Damaged, File: name, Err: errCompressed})
		}
		l.snapshots = append(l.snapshots, s.snapshots...)
		switch {
		case len(s.logs) > 0:
			servers = append(servers, s)
		case len(s.snapshots) > 0:
			apart = append(apart, s)
		default:
			l.addNote(Note{Kind: NoLog, File: s.dir})
		}
	}
	slices.SortStableFunc(l.snapshots, func(a, b logFile) int { return cmp.Compare(a.first, b.first) })
	for _, s := range l.snapshots {
		l.executed = append(l.executed, s.first)
	}
	return servers, apart, failed
}

var errCompressed = errors.New("compressed logs are not read")

// addNote keeps a note. If there are too many, those that say that something is missing take the place of others.
func (l *Log) addNote(n Note) {
	l.Incomplete = l.Incomplete || n.Incomplete()
	if n.Kind == Damaged {
		l.damaged[damage{n.File, n.Offset}] = struct{}{}
	}
	if len(l.Notes) == mostNotes {
		l.MoreNotes++
		i := slices.IndexFunc(l.Notes, func(n Note) bool { return !n.Incomplete() })
		if i < 0 || !n.Incomplete() {
			return
		}
		l.Notes = slices.Delete(l.Notes, i, i+1)
	}
	l.Notes = append(l.Notes, n)
}

// look reads everything once: which transactions were executed, what no log has, and which nodes went whose creation
// was not seen.
func (l *Log) look() {
	l.read.checkRest = true
	sessions := serversOfSessions{}
	l.readOldest(l.read)
	f := &filler{l: l, unread: l.snapshots, byGap: make([]int, len(l.gaps))}
	for i := range f.byGap {
		f.byGap[i] = -1 // there is no later snapshot
	}
	for _, t := range l.before {
		t.Changes = slices.Clone(t.Changes)
		f.change(&t)
	}
	f.known.missed = l.addMissed
	l.read.each(func(c *cursor) bool {
		now := Moment{c.zxid(), c.time()}
		if l.count++; l.First == (Moment{}) {
			l.First = now
		} else {
			f.passed(now.Zxid)
		}
		l.Last = now
		sessions.add(c)
		if t, ok := c.decode(l.in); ok && (len(t.Changes) > 0 || t.EndsSession) {
			f.change(&t)
		}
		return true
	})
	if l.count > 0 {
		f.passed(afterAll)
	}
	f.end()
	l.noteOthers(len(sessions))
}

// afterAll is a zxid behind all that servers give out.
const afterAll = math.MaxInt32 << 32

// addMissed takes in a node that goes and was not seen to come: before the logs begin, or in the last gap.
func (l *Log) addMissed(path string, owner int64) {
	t := zktest.Transaction{Session: owner, Changes: []zktest.Change{{Kind: zktest.Created, Path: path, Owner: owner}}}
	if n := len(l.gaps); n > 0 {
		t.Zxid = l.gaps[n-1].last
		l.gaps[n-1].filled = append(l.gaps[n-1].filled, t)
		return
	}
	l.before = append(l.before, t)
}
