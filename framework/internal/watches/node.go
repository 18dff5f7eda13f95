package watches

import (
	"time"

	"github.com/go-zookeeper/zk"

	"github.com/gocurator/curator/framework/session"
)

type (
	// A Status is what is known of a watched node.
	Status = session.Status
	// A View is what is known of a watched node, but for Own.
	View = session.View
)

// The statuses.
const (
	Unknown = session.StatusUnknown
	Present = session.StatusPresent
	Gone    = session.StatusGone
	Refused = session.StatusFailed
)

// A phase is where the session is with one watch.
type phase int

const (
	deferred phase = iota // no request was made yet
	idle                  // the newest request was answered, or its answer cannot come any more
	asked                 // a request is under way, and its answer replaces the view
	checking              // a request is under way to find a lost event; the view holds until the answer
	setting               // a request that sets the watch without a read is under way: see set.go
)

// A node is the session's one watch on a key.
type node struct {
	key         Key
	phase       phase
	view        View
	newest      int       // number of the newest request: the answers to earlier ones do not count
	sent        time.Time // when the newest request was made
	since       time.Time // when the newest subscriber came
	byExists    bool      // the node may not be read, or is missing
	unreadable  error     // why, in the first case; persistent subscribers are refused then
	watched     bool      // an answer has set the server's watch, and no event has come since
	asOf        int64     // the zxid of the request that has set the watch without a read
	deleted     bool      // setting: the event of the deletion has come
	doubtful    bool      // a subscriber only concludes that the client may read the node
	subscribers map[*Subscription]struct{}
}

// known reports whether a new subscriber need not ask: it asks again about a node that is gone, or was refused.
func (w *node) known() bool { return w.view.Status != Gone && w.view.Status != Refused }

func (w *node) pending() bool { return w.phase == asked || w.phase == checking || w.phase == setting }

func (w *node) persistent() bool {
	return w.any(func(sub *Subscription) bool { return sub.persistent })
}

func (w *node) transient() bool {
	return w.any(func(sub *Subscription) bool { return !sub.persistent })
}

func (w *node) any(is func(sub *Subscription) bool) bool {
	for sub := range w.subscribers {
		if is(sub) {
			return true
		}
	}
	return false
}

// setView replaces what is known and wakes the subscribers. A subscription that has seen its node gone keeps to that,
// unless it is persistent.
func (t *Table) setView(w *node, view View) {
	w.view = view
	if view.Status == Gone {
		w.unreadable = nil // another node at the path may be readable
	}
	for sub := range w.subscribers {
		sub.gone = sub.gone || view.Status == Gone && !sub.persistent
		t.wakes = append(t.wakes, sub.wake)
	}
}

// wakeOfLoss wakes the subscribers that hear of a lost connection, unless they keep to having seen the node gone, or
// wait for it to be read.
func (t *Table) wakeOfLoss(w *node) {
	for sub := range w.subscribers {
		if sub.hearsLoss && !sub.gone && w.satisfies(sub.knows) {
			t.wakes = append(t.wakes, sub.wake)
		}
	}
}

// ask makes the request that reads the node and sets the watch. Without a connection Attached makes it.
func (t *Table) ask(w *node, now time.Time) {
	if !t.attached {
		w.phase = idle
		return
	}
	w.newest++
	w.phase, w.sent, w.deleted = asked, now, false
	op := ReadData
	switch {
	case w.key.Children:
		op = ReadChildren
	case w.byExists:
		op = ReadStat
	}
	t.requests = append(t.requests, Request{Op: op, Path: w.key.Path, Watch: !t.covered(w.key), node: w, number: w.newest})
}

// check makes the request of ReadAgain: the view holds until its answer.
func (t *Table) check(w *node, now time.Time) {
	t.ask(w, now)
	w.phase = checking
}

// takeOff takes a watch off the server. "No such watch" is a good answer: it fired on the way.
func (t *Table) takeOff(key Key) {
	if !t.attached || t.covered(key) {
		return
	}
	op := RemoveData
	if key.Children {
		op = RemoveChildren
	}
	t.requests = append(t.requests, Request{Op: op, Path: key.Path})
}

// nodeAnswered applies an answer to a watch's newest request. broken reports that the connection must be left.
func (t *Table) nodeAnswered(r Request, a Answer, now time.Time) (broken bool) {
	w := r.node
	if t.nodes[w.key] != w || a.Outcome == Lost {
		return false
	}
	if w.refutes(r, a) {
		t.readAll(now)
	}
	if r.Op == SetData && r.number == w.newest {
		return t.setAnswered(w, a, now)
	}
	w.watched = w.watched || r.setsWatch(a.Outcome)
	if r.number != w.newest {
		return false
	}
	checked := w.phase == checking
	w.phase = idle
	if w.switchKind(a.Outcome, a.Err) {
		// A subscription that is not persistent must not see a node that is created before the next answer.
		if a.Outcome == Missing && w.transient() {
			t.setView(w, View{Status: Gone})
		}
		t.ask(w, now)
		return false
	}
	switch a.Outcome {
	case Found:
		t.setView(w, View{Status: Present, Stat: a.Stat, Data: a.Data, Children: a.Children, Read: w.sent})
	case Missing:
		t.setView(w, View{Status: Gone})
	case Busy:
		if !checked {
			w.view = View{}
		}
		r.again = checked
		t.refused = append(t.refused, r)
	case Unclear:
		return true
	default:
		if w.watched { // by this answer if it is too long, or by one before the refusal
			t.takeOff(w.key)
			w.watched = false
		}
		t.setView(w, View{Status: Refused, Err: a.Err, Read: w.sent})
	}
	return false
}

// switchKind decides from an answer whether to watch by existence instead of data, or the reverse.
func (w *node) switchKind(outcome Outcome, err error) bool {
	switch {
	case w.key.Children:
		return false
	case w.byExists && outcome == Found && w.unreadable == nil: // created since it was missing
		w.byExists = false
		return true
	case !w.byExists && w.transient() && (outcome == Forbidden || outcome == TooLarge):
		w.byExists, w.unreadable = true, err
		return true
	case !w.byExists && w.persistent() && outcome == Missing:
		w.byExists = true
		return true
	default:
		return false
	}
}

func (t *Table) nodeEvent(w *node, kind zk.EventType, now time.Time) {
	// What setWatches reports spends no watch, and an earlier one may have been left by a busy server.
	if w.phase != setting && (kind == zk.EventNodeDeleted || w.key.Children == (kind == zk.EventNodeChildrenChanged)) {
		w.watched = false
	}
	switch {
	case w.phase == setting:
		t.eventBeforeSet(w, kind, now)
	case kind == zk.EventNodeDeleted && w.phase != asked:
		t.setView(w, View{Status: Gone})
		if w.persistent() {
			t.ask(w, now)
		}
	case kind == zk.EventNodeDeleted:
		// The request on its way may find that the node was created again: the next answer decides.
		t.ask(w, now)
	case w.key.Children != (kind == zk.EventNodeChildrenChanged):
	case w.view.Status == Gone && !w.persistent():
		if !w.pending() { // otherwise the answer is to a request for the existence alone
			w.byExists = false // created again; that watch is spent
		}
	case w.pending(): // the answer is later than this event: servers keep the order of execution
		w.phase = asked
	default:
		t.ask(w, now)
	}
}
