package watches

import (
	"time"

	"github.com/go-zookeeper/zk"
)

// An Op is what a request does at the server.
type Op int

// What requests do.
const (
	ReadData       Op = iota // getData
	ReadStat                 // exists
	ReadChildren             // getChildren
	SetData                  // setWatches, for the data: see set.go
	SetTree                  // addWatch, persistent and recursive
	RemoveData               // removeWatches, like the next ones: the watch on data and existence
	RemoveChildren           // the watch on children
	RemoveTree               // the watch on a tree
	RemoveAny                // all watches on the path: servers before 3.9 do not know RemoveTree
)

// A Request is to be sent to the server. Its answer goes to Answered, together with it.
type Request struct {
	Op     Op
	Path   string
	Watch  bool  // a read: set a watch, too
	Since  int64 // SetData: the zxid
	node   *node
	number int
	tree   *tree
	again  bool // the view holds until the answer
}

// Reads reports whether the answer shows the node, or that it is missing.
func (r Request) Reads() bool { return r.Op == ReadData || r.Op == ReadStat || r.Op == ReadChildren }

// setsWatch reports whether the server has set a watch with this answer: an existence watch on a missing node, too, and
// one whose answer is too long.
func (r Request) setsWatch(outcome Outcome) bool {
	return r.Watch && (outcome == Found || outcome == TooLarge || outcome == Missing && r.Op == ReadStat)
}

// An Outcome is what became of a request.
type Outcome int

// What becomes of requests.
const (
	Found       Outcome = iota // success
	Missing                    // there is no such node
	Forbidden                  // the client may not read the node
	TooLarge                   // the answer is too long
	Busy                       // the server cannot answer now
	Lost                       // the connection broke before the answer
	Denied                     // any other answer that asking again would not change
	Unsupported                // the server does not know the request in this form
	Unclear                    // anything else
)

// An Answer is the answer to a request.
type Answer struct {
	Outcome  Outcome
	Err      error // nil only if Found
	Stat     *zk.Stat
	Data     []byte
	Children []string
}

// Answered applies the answer to a request. broken reports that the server cannot be used: the connection must be left,
// and the next one asks again.
func (t *Table) Answered(r Request, a Answer, now time.Time) (broken bool) {
	switch {
	case r.Reads(), r.Op == SetData:
		return t.nodeAnswered(r, a, now)
	case r.Op == SetTree:
		return t.treeAnswered(r, a, now)
	case a.Outcome == Busy:
		t.refused = append(t.refused, r)
	case a.Outcome == Unsupported && r.Op == RemoveTree:
		t.removeTree(r.Path, RemoveAny, now)
	}
	return false
}

// Requests returns what is to be sent, in this order, and forgets it. The slice is valid until the next call of another
// method.
func (t *Table) Requests() []Request {
	requests := t.requests
	t.requests = t.requests[:0]
	return requests
}

// Wakes returns the functions to call outside of the lock, in this order, and forgets them.
func (t *Table) Wakes() []func() {
	wakes := t.wakes
	t.wakes = nil
	return wakes
}

// HasRefused reports whether a busy server has refused requests that AskAgain would repeat.
func (t *Table) HasRefused() bool { return len(t.refused) > 0 }

// AskAgain repeats what a busy server has refused, as far as it is still needed. On another connection all watches
// would have to be set.
func (t *Table) AskAgain(now time.Time) {
	refused := t.refused
	t.refused = nil
	for _, r := range refused {
		switch r.Op {
		case SetTree:
			if t.trees[r.Path] == r.tree {
				t.setTree(r.Path, now)
			}
		case RemoveData, RemoveChildren:
			t.takeOffAgain(r)
		case RemoveTree, RemoveAny:
			t.removeTree(r.Path, r.Op, now)
		default:
			t.readRefused(r, now)
		}
	}
}

// takeOffAgain takes a watch off unless the node is watched again: then the end of that does, or of the tree that
// covers the node by now.
func (t *Table) takeOffAgain(r Request) {
	key := Key{Path: r.Path, Children: r.Op == RemoveChildren}
	w := t.nodes[key]
	switch {
	case t.covered(key):
		t.trees[r.Path].leftData = true
	case w == nil || w.phase == deferred:
		t.takeOff(key)
	default:
		w.watched = true
	}
}

func (t *Table) readRefused(r Request, now time.Time) {
	w := r.node
	switch {
	case t.nodes[w.key] != w || w.pending():
	case r.again:
		t.check(w, now)
	case w.view.Status == Unknown:
		t.ask(w, now)
	}
}
