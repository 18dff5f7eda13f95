package live_test

import (
	"fmt"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/gocurator/curator/framework/zktest"
)

// An exactLog judges what the servers execute, by what the creators of exact paths have.
type exactLog struct {
	mu       sync.Mutex
	foreign  int64            // the strangers' session
	rough    bool             // strangers delete the client's nodes
	claimed  map[string]int64 // the session of the node that a creator has, by path
	wanted   map[string]int64 // czxid of what may be replaced, by path
	looked   map[string]int64 // the newest transaction before the client's newest look, by path
	nodes    map[string]int64 // czxid, by path
	ended    map[int64]bool   // sessions
	newest   int64
	ours     int // nodes of the client that were deleted by it
	lines    []string
	problems []string
}

func (l *exactLog) note(format string, args ...any) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.noteLocked(format, args...)
}

func (l *exactLog) noteLocked(format string, args ...any) {
	l.lines = append(l.lines, time.Now().Format("04:05.000 ")+fmt.Sprintf(format, args...))
}

func (l *exactLog) problemLocked(format string, args ...any) {
	l.noteLocked("PROBLEM: "+format, args...)
	l.problems = append(l.problems, fmt.Sprintf(format, args...))
}

// claim says that a session has its node at path until further notice; 0 is none.
func (l *exactLog) claim(path string, session int64) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if !l.ended[session] {
		l.claimed[path] = session
	}
}

// want says that the node of this czxid is to be replaced.
func (l *exactLog) want(path string, czxid int64) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.wanted[path] = czxid
}

func (l *exactLog) observe(e *zktest.Ensemble, foreign int64) {
	l.foreign, l.nodes, l.ended = foreign, map[string]int64{}, map[int64]bool{}
	e.Leader().Observe(func(r zktest.Request) { // at any server
		l.mu.Lock()
		defer l.mu.Unlock()
		if r.Session != foreign {
			l.noteLocked("%#x by connection %d: %v %s", r.Session, r.Conn, r.Op, r.Path)
			if r.Op == zktest.OpExists {
				l.looked[r.Path] = l.newest
			}
		}
	})
	e.Leader().ObserveTransactions(l.judge)
}

// judge is called for each transaction.
func (l *exactLog) judge(tx zktest.Transaction) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.newest = tx.Zxid
	if tx.EndsSession {
		l.ended[tx.Session] = true
		maps.DeleteFunc(l.claimed, func(_ string, session int64) bool { return session == tx.Session })
	}
	for _, c := range tx.Changes {
		switch c.Kind {
		case zktest.Created:
			l.noteLocked("transaction %#x of %#x creates %s for %#x", tx.Zxid, tx.Session, c.Path, c.Owner)
			l.nodes[c.Path] = tx.Zxid
		case zktest.Deleted:
			l.noteLocked("transaction %#x of %#x deletes %s of %#x", tx.Zxid, tx.Session, c.Path, c.Owner)
			l.deletedLocked(tx, c)
			delete(l.nodes, c.Path)
		}
	}
}

func (l *exactLog) deletedLocked(tx zktest.Transaction, c zktest.Change) {
	replaces := slices.ContainsFunc(tx.Changes, func(made zktest.Change) bool {
		return made.Kind == zktest.Created && made.Path == c.Path
	})
	switch {
	case tx.EndsSession || tx.Session == 0 || c.Owner == 0 || tx.Session == l.foreign:
	case c.Owner == l.foreign:
		// The documented window: the node was created after the look. Gentle strangers leave none.
		czxid := l.nodes[c.Path]
		if inWindow := l.rough && czxid > l.looked[c.Path]; !inWindow && (!replaces || czxid != l.wanted[c.Path]) {
			l.problemLocked("transaction %#x deletes a stranger's node at %s", tx.Zxid, c.Path)
		}
	case replaces:
	case l.claimed[c.Path] == c.Owner:
		l.problemLocked("transaction %#x deletes the node at %s that its creator has", tx.Zxid, c.Path)
	default:
		l.ours++
	}
}
