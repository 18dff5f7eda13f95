package watches

import (
	"time"

	"github.com/go-zookeeper/zk"

	"github.com/gocurator/curator/framework/session"
)

// A Table has the watches of one session. Its methods must not run at the same time.
type Table struct {
	nodes      map[Key]*node
	trees      map[string]*tree
	attached   bool            // without a connection the table makes no request
	takesTrees bool            // the server is known to take watches of trees
	deferred   []*node         // to be set by SetDeferred
	refused    []Request       // refused by a busy server; AskAgain makes them again
	leaving    map[string]bool // nodes that the session is deleting
	timeout    time.Duration   // the session timeout
	readsAt    time.Time       // when ReadLate looks at the nodes again
	requests   []Request
	wakes      []func()

	readsAll    bool // watches are set by reads alone: see set.go
	refusesSets bool // this connection's server does not take setWatches
}

// New returns an empty table.
func New() *Table {
	return &Table{nodes: map[Key]*node{}, trees: map[string]*tree{}, leaving: map[string]bool{}}
}

// A Key is what one watch at the server is on.
type Key struct {
	Path     string
	Children bool // the names of the children, not data and existence
}

// A Manner is how a subscriber watches.
type Manner int

// The manners of subscribers.
const (
	Promptly   Manner = iota // set the watch now
	Persistent               // sees a node again that is created again
	Deferred                 // SetDeferred sets the watch, unless something needs it earlier
	Attentive                // Promptly, but woken by a lost connection, as Persistent is
	Briefly                  // until the connection is lost; of data it is Persistent. ReadLate leaves it alone
)

func (m Manner) hearsLoss() bool { return m == Persistent || m == Attentive }

// A Subscription is one use of a watch. All on one key share one watch at the server.
type Subscription struct {
	node       *node
	wake       func()
	persistent bool
	hearsLoss  bool // woken when a lost connection changes the view
	brief      bool // over when the connection is lost
	over       bool
	gone       bool  // has seen the node gone, and is not persistent
	knows      int64 // the subscriber knows the node's data as of this transaction; -1: it has to be read
}

// Subscribe begins a subscription. wake is called when View may return something new. For a node that the session is
// deleting it makes no request: Removed brings the answer.
func (t *Table) Subscribe(sub *Subscription, key Key, wake func(), how Manner, now time.Time) {
	w := t.join(sub, key, wake, how, now)
	if how == Briefly && !t.attached {
		t.endBrief(w)
		return
	}
	t.begin(sub, how, now)
}

// join makes a subscription one of its node's.
func (t *Table) join(sub *Subscription, key Key, wake func(), how Manner, now time.Time) *node {
	w := t.nodes[key]
	if w == nil {
		w = &node{key: key, subscribers: map[*Subscription]struct{}{}}
		t.nodes[key] = w
	}
	brief := how == Briefly
	*sub = Subscription{
		node: w, wake: wake, persistent: how == Persistent || brief && !key.Children, hearsLoss: how.hearsLoss(), brief: brief, knows: -1,
	}
	w.subscribers[sub] = struct{}{}
	if !brief {
		w.since = now
		t.lookSoon(w, now)
	}
	return w
}

// begin asks for what a new subscription needs.
func (t *Table) begin(sub *Subscription, how Manner, now time.Time) {
	w := sub.node
	known := len(w.subscribers) > 1 && w.known()
	if sub.persistent && w.unreadable != nil { // perhaps readable by now
		w.byExists, w.unreadable, known = false, nil, false
	}
	switch {
	case known && !w.satisfies(sub.knows):
		t.read(w, how, now)
	case known && (w.phase != deferred || how == Deferred):
	case t.leaving[w.key.Path] && !w.key.Children && !sub.persistent:
		w.view = View{}
	case w.phase == deferred && how == Deferred:
		w.view = View{}
		t.deferred = append(t.deferred, w)
	default:
		w.view = View{}
		t.ask(w, now)
	}
}

// HasDeferred reports whether watches wait for SetDeferred.
func (t *Table) HasDeferred() bool { return len(t.deferred) > 0 }

// SetDeferred sets the watches that were deferred.
func (t *Table) SetDeferred(now time.Time) {
	for _, w := range t.deferred {
		switch {
		case t.nodes[w.key] != w:
		case w.phase == deferred:
			t.ask(w, now)
		case w.any(func(sub *Subscription) bool { return !w.satisfies(sub.knows) }):
			t.read(w, Promptly, now)
		}
	}
	t.deferred = nil
}

// Unsubscribe ends a subscription. To end it again does nothing. A deletion by the session takes the server's watch
// with it, and if the server refuses the deletion, Removed takes the watch off.
func (t *Table) Unsubscribe(sub *Subscription) {
	w := sub.node
	delete(w.subscribers, sub)
	if len(w.subscribers) > 0 || t.nodes[w.key] != w {
		return
	}
	delete(t.nodes, w.key)
	// An exists-watch is set on a missing node, too.
	set := w.view.Status == Present || w.view.Status == Unknown || w.watched || w.pending()
	if w.phase == setting && w.deleted && !w.watched { // nor does the request set one
		return
	}
	// A request that is under way may have been sent after the deletion. A deletion that finds no node takes no watch:
	// the view says so, or says nothing, as after a subscription that came during the deletion.
	left := w.watched && w.view.Status != Present
	if w.phase != deferred && set && (!t.leaving[w.key.Path] || w.pending() || left) {
		t.takeOff(w.key)
	}
}

// View returns what is known now.
func (t *Table) View(sub *Subscription) View {
	w := sub.node
	switch {
	case sub.over:
		return View{Status: Refused, Err: session.ErrConnectionLost}
	case sub.gone:
		return View{Status: Gone}
	case !w.satisfies(sub.knows):
		return View{}
	case sub.persistent && w.unreadable != nil && w.view.Status == Present:
		return View{Status: Refused, Err: w.unreadable}
	}
	view := w.view
	if w.phase == checking {
		view.Pending = w.sent
	}
	view.Current = view.Status == Present && w.phase != asked && (!t.covered(w.key) || t.trees[w.key.Path].set)
	return view
}

// Watches reports whether a server was asked to watch data, existence or children of a node.
func (t *Table) Watches(path string) bool {
	for _, children := range []bool{false, true} {
		if w := t.nodes[Key{path, children}]; w != nil && w.phase != deferred {
			return true
		}
	}
	return false
}

// IsEmpty reports whether the table has neither watches nor trees.
func (t *Table) IsEmpty() bool { return len(t.nodes) == 0 && len(t.trees) == 0 }

// Attached sets every watch on a new connection: by reading the nodes, since the requests that set many watches would
// say that a node has changed, but not to what. Of trees they would say nothing.
func (t *Table) Attached(now time.Time, timeout time.Duration) {
	t.attached, t.timeout = true, timeout
	// Trees come last: a server that hangs up on them has answered the rest before. With them come the watches on their
	// nodes.
	for _, w := range t.nodes {
		if !t.hasTree(w.key.Path) && !w.pending() && (w.view.Status == Unknown || w.persistent()) {
			t.ask(w, now)
		}
	}
	t.setTrees(now)
}

// Detached is for a lost connection, whose server forgets its watches. It wakes only the subscribers that hear of the
// loss: to a contender of a lock it would say nothing that the contender could act on.
func (t *Table) Detached() {
	t.attached, t.takesTrees, t.refusesSets, t.refused = false, false, false, nil
	for _, w := range t.nodes {
		if w.view.Status == Present || w.view.Status == Gone && w.persistent() {
			t.wakeOfLoss(w)
			w.view = View{}
		}
		w.phase, w.watched, w.deleted = idle, false, false
		w.newest++ // an answer that is still on its way does not count
		t.endBrief(w)
	}
	for _, tree := range t.trees {
		tree.set, tree.leftData = false, false
		for o, watching := range tree.observers {
			if watching {
				tree.observers[o] = false
				t.wakes = append(t.wakes, o.Lost)
			}
		}
	}
}

// Removing says that the session is deleting a node. Removed must follow.
func (t *Table) Removing(path string) { t.leaving[path] = true }

// Removed handles the answer to a deletion; refused says that the node is still there. A watch that was registered
// since Removing sent no request and gets its answer here.
func (t *Table) Removed(path string, refused bool, now time.Time) {
	delete(t.leaving, path)
	for _, children := range []bool{false, true} {
		if refused && t.nodes[Key{path, children}] == nil { // Unsubscribe has left the server's watch to the deletion
			t.takeOff(Key{path, children})
		}
	}
	w := t.nodes[Key{Path: path}]
	switch {
	case w == nil || w.view.Status != Unknown || w.pending():
	case refused || w.persistent():
		t.ask(w, now)
	default:
		t.setView(w, View{Status: Gone})
	}
}

// Event applies a watch event. After a change it reads the node again, and the answer wakes the subscribers. An event
// that nothing asked for changes nothing.
func (t *Table) Event(kind zk.EventType, path string, now time.Time) {
	for _, children := range []bool{false, true} {
		if w := t.nodes[Key{path, children}]; w != nil && w.phase != deferred {
			t.nodeEvent(w, kind, now)
		}
	}
	t.treeEvent(kind, path)
}
