package live

import (
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/go-zookeeper/zk"

	"github.com/gocurator/curator/framework/internal/transport"
	"github.com/gocurator/curator/framework/internal/watches"
	"github.com/gocurator/curator/retry"
)

// A watching is the session's watches: the table that decides, what it asks of the servers, and when.
type watching struct {
	*sender
	validity  *validity
	observers *observers

	// Guarded by the mutex.
	table    *watches.Table
	putOff   time.Time  // when deferred watches are set
	askAgain time.Time  // when what an overloaded server refused is, or was, asked for again
	pace     retry.Pace // of that
}

const watchDelay = 50 * time.Millisecond

func (w *watching) subscribe(key watches.Key, wake func(), how watches.Manner) *Watch {
	if wake == nil { // the goroutine that reads the connection would call it
		panic(fmt.Sprintf("session: watch on %q: the function is nil", key.Path))
	}
	watch := &Watch{}
	w.mu.Lock()
	defer w.mu.Unlock()
	waiting := w.table.HasDeferred()
	w.table.Subscribe(&watch.subscription, key, wake, how, time.Now())
	if w.table.HasDeferred() && !waiting {
		w.putOff = w.clock.Now().Add(watchDelay)
		w.wakeClock()
	}
	if w.askLocked() {
		w.validity.wakeIfDueLocked(w.clock.Now())
	}
	return watch
}

// viewLocked returns what is known to a watch. A persistent watch on the children of a missing node watches for the
// node's creation, and is then set again.
func (w *watching) viewLocked(watch *Watch) watches.View {
	view := w.table.View(&watch.subscription)
	if watch.wake == nil || view.Status != watches.Gone {
		return view
	}
	key, _ := watch.subscription.Key()
	if watch.creation == nil {
		watch.creation = &watches.Subscription{}
		w.table.Subscribe(watch.creation, watches.Key{Path: key.Path}, watch.wake, watches.Persistent, time.Now())
	}
	switch node := w.table.View(watch.creation); node.Status {
	case watches.Present:
		w.unsubscribeLocked(watch)
		watch.creation = nil
		w.table.Subscribe(&watch.subscription, key, watch.wake, watches.Promptly, time.Now())
		view = w.table.View(&watch.subscription)
	case watches.Refused:
		view = node
	case watches.Unknown, watches.Gone:
	}
	if w.askLocked() {
		w.validity.wakeIfDueLocked(w.clock.Now())
	}
	return view
}

func (w *watching) unsubscribeLocked(watch *Watch) {
	w.table.Unsubscribe(&watch.subscription)
	if watch.creation != nil {
		w.table.Unsubscribe(watch.creation)
	}
}

// change changes the table, and sends what it asks for.
func (w *watching) change(changeLocked func(now time.Time)) {
	w.mu.Lock()
	defer w.mu.Unlock()
	changeLocked(time.Now())
	w.askLocked()
}

func (w *watching) observeTree(path string, o TreeObserver) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.support.Lacks(transport.FeatureTreeWatches) {
		return noTrees()
	}
	w.table.ObserveTree(path, o)
	w.askSurelyLocked(func() { w.table.SetTree(path, time.Now()) }, transport.WatchTree(path, nil))
	w.validity.wakeIfDueLocked(w.clock.Now())
	return nil
}

func noTrees() error {
	return fmt.Errorf("%w: watches of trees came with ZooKeeper 3.6", ErrUnsupported)
}

// giveUpTreesLocked ends all observations of trees if the servers lack such watches.
func (w *watching) giveUpTreesLocked() {
	if w.table.HasTrees() && w.support.Lacks(transport.FeatureTreeWatches) {
		w.table.RefuseTrees(noTrees())
	}
}

// askLocked sends what the table of watches asks for, and reports whether there was anything. Requests leave in the
// order in which the table changed: a watch that is taken off and set again must not be taken off last.
func (w *watching) askLocked() bool {
	requests := w.table.Requests()
	if len(requests) == 0 {
		return false
	}
	calls := make([]*transport.Call, 0, len(requests))
	for _, r := range requests {
		removes := r.Op == watches.RemoveData || r.Op == watches.RemoveChildren
		if !removes || !w.support.Lacks(transport.FeatureRemoveWatches) {
			calls = append(calls, w.request(r))
		}
	}
	w.sendLocked(calls...)
	return true
}

func (w *watching) request(r watches.Request) *transport.Call {
	switch r.Op {
	case watches.ReadData:
		return transport.Get(r.Path, r.Watch, func(data []byte, stat *zk.Stat, err error) {
			w.answered(r, watches.Answer{Stat: stat, Data: data, Err: err})
		})
	case watches.ReadStat:
		return transport.Exists(r.Path, r.Watch, func(stat *zk.Stat, err error) {
			w.answered(r, watches.Answer{Stat: stat, Err: err})
		})
	case watches.ReadChildren:
		return transport.Children(r.Path, r.Watch, func(children []string, stat *zk.Stat, err error) {
			w.answered(r, watches.Answer{Stat: stat, Children: children, Err: err})
		})
	}
	answered := func(err error) { w.answered(r, watches.Answer{Err: err}) }
	switch r.Op {
	case watches.SetTree:
		return transport.WatchTree(r.Path, answered)
	case watches.RemoveData:
		return transport.RemoveWatches(r.Path, transport.DataWatch, answered)
	case watches.RemoveChildren:
		return transport.RemoveWatches(r.Path, transport.ChildWatch, answered)
	case watches.RemoveTree:
		return transport.RemoveWatches(r.Path, transport.TreeWatch, answered)
	default:
		return transport.RemoveWatches(r.Path, transport.AnyWatch, answered)
	}
}

// answered applies the answer to a request of the table. Observers of children hear of it first.
func (w *watching) answered(r watches.Request, a watches.Answer) {
	a.Outcome = outcome(r.Op, a.Err)
	switch {
	case a.Outcome == watches.Missing && r.Reads():
		w.observers.gone(r.Path)
	case a.Outcome == watches.Found && r.Op == watches.ReadChildren:
		w.observers.listed(r.Path, a.Children, a.Stat)
	}
	w.mu.Lock()
	planned := w.table.HasRefused()
	broken := w.table.Answered(r, a, time.Now())
	if w.table.HasRefused() && !planned {
		w.planAskingAgainLocked()
	}
	w.askLocked()
	wakes := w.table.Wakes()
	w.mu.Unlock()
	if broken { // the session has moved, for instance: the next connection asks again
		w.transport.Break(a.Err)
	}
	call(wakes)
}

// outcome says what an error means to the table.
func outcome(op watches.Op, err error) watches.Outcome {
	switch {
	case err == nil:
		return watches.Found
	case errors.Is(err, transport.ErrBroken):
		return watches.Lost
	case errors.Is(err, zk.ErrNoNode):
		return watches.Missing
	case errors.Is(err, zk.ErrNoAuth):
		return watches.Forbidden
	case errors.Is(err, ErrTooLarge):
		return watches.TooLarge
	case passing(err):
		return watches.Busy
	case op == watches.RemoveTree && errors.Is(err, transport.ErrMarshalling):
		return watches.Unsupported
	case Definite(err) || hungUp(err):
		return watches.Denied
	default:
		return watches.Unclear
	}
}

// setLocked sets every watch on a new connection.
func (w *watching) setLocked() {
	set := func() { w.table.Attached(time.Now(), w.leases.timeout) }
	var kinds []*transport.Call
	if w.table.HasTrees() {
		kinds = append(kinds, transport.WatchTree("/", nil))
	}
	if !w.table.IsEmpty() {
		kinds = append(kinds, transport.Get("/", false, nil), transport.Exists("/", false, nil), transport.Children("/", false, nil))
	}
	w.askSurelyLocked(set, kinds...)
}

// askSurelyLocked has the table make requests of the given kinds, and sends them. If connections have ended on such
// requests, another request must be answered first, or the next end says nothing: a watch is the first request of most
// connections.
func (w *watching) askSurelyLocked(ask func(), kinds ...*transport.Call) {
	if !slices.ContainsFunc(kinds, w.support.Doubts) {
		ask()
		w.askLocked()
		return
	}
	w.sendLocked(w.sureFirst(func() {
		ask()
		w.askLocked()
	}))
}

// planAskingAgainLocked has runClock repeat what an overloaded server has refused, after growing pauses.
func (w *watching) planAskingAgainLocked() {
	now := w.clock.Now()
	w.askAgain = now.Add(w.pace.Next(now.Sub(w.askAgain)))
	w.wakeClock()
}

// askDueLocked asks for what was deferred, or refused by an overloaded server.
func (w *watching) askDueLocked(now time.Time) {
	if w.table.HasDeferred() && !now.Before(w.putOff) {
		w.table.SetDeferred(time.Now())
	}
	if w.table.HasRefused() && !now.Before(w.askAgain) {
		w.table.AskAgain(time.Now())
	}
	w.askLocked()
}

// readLateLocked reads what has not changed for long, and returns when to look at the table again.
func (w *watching) readLateLocked(now time.Time) (next time.Time) {
	next = now.Add(w.table.ReadLate(time.Now()))
	w.askLocked()
	if w.table.HasDeferred() {
		next = earliest(next, w.putOff)
	}
	if w.table.HasRefused() {
		next = earliest(next, w.askAgain)
	}
	return next
}

// event applies a watch event. Neither watches nor observers believe an event that nothing asked for.
func (w *watching) event(e transport.WatchEvent) {
	w.mu.Lock()
	watched := w.table.Watches(e.Path)
	w.mu.Unlock()
	if watched && e.Type == zk.EventNodeDeleted {
		w.observers.gone(e.Path)
	}
	w.mu.Lock()
	w.table.Event(e.Type, e.Path, time.Now())
	w.askLocked()
	wakes := w.table.Wakes()
	w.mu.Unlock()
	call(wakes)
}

// call calls what the table returned to be called without the mutex.
func call(wakes []func()) {
	for _, wake := range wakes {
		wake()
	}
}
