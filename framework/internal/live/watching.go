package live

import (
	"errors"
	"slices"
	"sync/atomic"
	"time"

	"github.com/go-zookeeper/zk"

	"github.com/gocurator/curator/framework/internal/transport"
	"github.com/gocurator/curator/framework/internal/watches"
	"github.com/gocurator/curator/framework/session"
	"github.com/gocurator/curator/retry"
)

// A watching is the session's watches: the table that decides, what it asks of the servers, and when.
type watching struct {
	*sender
	validity  *validity
	observers *observers
	readsAll  *atomic.Bool // Config.ReadsAll

	// Guarded by the mutex.
	table    *watches.Table
	putOff   time.Time  // when deferred watches are set
	askAgain time.Time  // when what an overloaded server refused is, or was, asked for again
	pace     retry.Pace // spaces these requests
	trees    treeQuestion
}

// withOwner completes a view with what the table does not know.
func (w *watching) withOwner(view session.View) session.View {
	view.Own = view.Stat != nil && view.Stat.EphemeralOwner == w.sessionID()
	return view
}

// askInTimeLocked sends what the table asks for. The first watch of a session needs renewals.
func (w *watching) askInTimeLocked() {
	if w.askLocked() {
		w.validity.wakeIfDueLocked(w.clock.Now())
	}
}

// change changes the table, and sends what it asks for.
func (w *watching) change(changeLocked func(now time.Time)) {
	w.mu.Lock()
	defer w.mu.Unlock()
	changeLocked(time.Now())
	w.askLocked()
}

// askLocked sends what the table of watches asks for, and reports whether there was anything. Requests leave in the
// order in which the table changed: a watch that is taken off and set again must not be taken off last.
func (w *watching) askLocked() bool {
	requests := w.table.Requests()
	if len(requests) == 0 {
		return false
	}
	calls := make([]*transport.Call, 0, len(requests))
	for len(requests) > 0 {
		r := requests[0]
		if r.Op == watches.SetData {
			set, n := w.setData(requests)
			calls, requests = append(calls, set), requests[n:]
			continue
		}
		requests = requests[1:]
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
	if r.Op == watches.SetTree {
		return transport.WatchTree(r.Path, answered)
	}
	return transport.RemoveWatches(r.Path, watchTypes[r.Op], answered)
}

// watchTypes are what the requests that remove a watch name.
var watchTypes = map[watches.Op]transport.WatchType{
	watches.RemoveData: transport.DataWatch, watches.RemoveChildren: transport.ChildWatch,
	watches.RemoveTree: transport.TreeWatch, watches.RemoveAny: transport.AnyWatch,
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
	w.apply(a, r)
}

// apply applies one answer to all requests that it is for, and then wakes.
func (w *watching) apply(a watches.Answer, requests ...watches.Request) {
	w.mu.Lock()
	planned, broken := w.table.HasRefused(), false
	for _, r := range requests {
		broken = w.table.Answered(r, a, time.Now()) || broken
	}
	if w.table.HasRefused() && !planned {
		now := w.clock.Now()
		w.askAgain = now.Add(w.pace.Next(now.Sub(w.askAgain))) // then runClock asks
		w.wakeClock()
	}
	if w.table.ReadsAll() {
		w.readsAll.Store(true)
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
	case errors.Is(err, session.ErrTooLarge):
		return watches.TooLarge
	case passing(err):
		return watches.Busy
	case op == watches.RemoveTree && errors.Is(err, transport.ErrMarshalling):
		return watches.Unsupported
	case op == watches.SetTree && errors.Is(err, transport.ErrMarshalling): // another server has answered the question
		return watches.Denied
	case IsAnswer(err) || disconnects(err):
		return watches.Denied
	default:
		return watches.Unclear
	}
}

// setLocked sets every watch on a new connection.
func (w *watching) setLocked() {
	ask := func() {
		if w.support.Has(transport.FeatureTreeWatches) {
			w.table.SetTrees(time.Now())
		}
		w.table.Attached(time.Now(), w.leases.timeout)
		w.askLocked()
	}
	var kinds []*transport.Call
	if w.table.HasTrees() {
		kinds = append(kinds, transport.WatchTree("/", nil))
	}
	if !w.table.IsEmpty() {
		kinds = append(kinds, transport.Get("/", false, nil), transport.Exists("/", false, nil), transport.Children("/", false, nil))
	}
	if !slices.ContainsFunc(kinds, w.support.Doubts) {
		ask()
		return
	}
	// Connections have ended on such requests. A watch is the first request of most connections, so another request
	// must be answered first, or the next end says nothing.
	w.sendLocked(w.sureFirst(ask))
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
	w.changeAndWake(func() { w.table.Event(e.Type, e.Path, time.Now()) })
}

// changeAndWake changes the table as change does, and wakes those who wait for that.
func (w *watching) changeAndWake(changeLocked func()) {
	w.mu.Lock()
	changeLocked()
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
