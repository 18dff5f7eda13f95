// Package nodestest judges registrations by what the servers have executed: whose node was created, written and deleted
// by whom, and when. It is for tests with servers in memory, and with real ones, whose logs say the same.
package nodestest

import (
	"fmt"
	"strings"
	"time"

	"github.com/gocurator/curator/framework/zktest"
)

// A Life is one node, from its creation to its end.
type Life struct {
	Path    string
	Owner   int64  // its session; 0 if it outlives sessions
	Process string // the owner's; "" if it is of no known one
	Version int32
	Data    string
	ByHand  bool // Data was written by an administrator

	Created time.Time
	Ended   time.Time // zero while it is there
	By      int64     // the session that deleted it; 0 for an administrator, and for the end of its session
	Expired bool      // it went with its session
	Heir    *Life     // was created by the transaction that deleted it
}

// covers reports whether the node was there at a time.
func (l *Life) covers(at time.Time) bool {
	return !l.Created.After(at) && (l.Ended.IsZero() || l.Ended.After(at))
}

// A History is what has become of the nodes of a directory.
type History struct {
	of       map[string][]*Life // by path, in order
	process  func(session int64) string
	problems []string
	excused  int
}

// roundTrip bounds the time between a look at a node and the request that follows it, under faults.
const roundTrip = 2 * time.Second

// NewHistory reads transactions in their order. process returns of which process a session is. It
// returns "" of an administrator's, and of 0.
func NewHistory(dir string, transactions []zktest.Transaction, process func(session int64) string) *History {
	h := &History{of: map[string][]*Life{}, process: process}
	for _, t := range transactions {
		for _, c := range t.Changes {
			if strings.HasPrefix(c.Path, dir+"/") && !strings.Contains(c.Path[len(dir)+1:], "/") {
				h.change(t, c)
			}
		}
	}
	return h
}

func (h *History) change(t zktest.Transaction, c zktest.Change) {
	if h.process(t.Session) == "" {
		t.Session = 0
	}
	life := h.Last(c.Path)
	switch c.Kind {
	case zktest.Created:
		born := &Life{Path: c.Path, Owner: c.Owner, Process: h.process(c.Owner), Data: string(c.Data), Created: t.At}
		if life != nil && life.Ended.Equal(t.At) && life.By == t.Session && t.Session != 0 && deletes(t, c.Path) {
			life.Heir = born
		}
		h.of[c.Path] = append(h.of[c.Path], born)
	case zktest.DataSet:
		h.judge("wrote", t, life)
		life.Version, life.Data, life.ByHand = life.Version+1, string(c.Data), t.Session == 0
	case zktest.Deleted:
		life.Ended, life.Expired = t.At, t.EndsSession
		if !t.EndsSession {
			h.judge("deleted", t, life)
			life.By = t.Session
		}
	default:
	}
}

func deletes(t zktest.Transaction, path string) bool {
	for _, c := range t.Changes {
		if c.Kind == zktest.Deleted && c.Path == path {
			return true
		}
	}
	return false
}

// judge notes a change that was not for its session to make.
//
// No request can name the owner of a node. So what a process does right after its own node has gone, by hand or with
// its session, may befall a stranger's node of the same version.
func (h *History) judge(did string, t zktest.Transaction, life *Life) {
	by := h.process(t.Session)
	if t.Session == 0 || by == life.Process {
		return
	}
	lives := h.of[life.Path]
	if n := len(lives); n > 1 {
		before := lives[n-2]
		gone := before.Expired || before.By == 0
		if before.Process == by && gone && before.Version == life.Version && t.At.Sub(before.Ended) <= roundTrip {
			h.excused++
			return
		}
	}
	h.problem("law 4: at %s, %s (session %#x) %s %s of %s (session %#x)",
		clock(t.At), by, t.Session, did, life.Path, life.Process, life.Owner)
}

// Last returns the newest node at a path, nil if there was none.
func (h *History) Last(path string) *Life {
	lives := h.of[path]
	if len(lives) == 0 {
		return nil
	}
	return lives[len(lives)-1]
}

func (h *History) problem(format string, args ...any) {
	h.problems = append(h.problems, fmt.Sprintf(format, args...))
}

func clock(t time.Time) string { return t.Format("04:05.000") }

// Excused counts the strangers' nodes that have met what no client can promise.
func (h *History) Excused() int { return h.excused }

// Replaced counts the nodes that a process has replaced by its own next one in a transaction.
func (h *History) Replaced() (n int) {
	for life := range h.lives {
		if life.Heir != nil {
			n++
		}
	}
	return n
}
