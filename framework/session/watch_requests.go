package session

import (
	"errors"
	"slices"
	"time"

	"github.com/go-zookeeper/zk"

	"github.com/gocurator/curator/framework/internal/transport"
	"github.com/gocurator/curator/framework/internal/watches"
)

// askWatched sends what the table of watches asks for, and reports whether there was anything. mu is held, so that
// requests leave in the order in which the table changed: a watch that is taken off and set again must not be taken off
// last.
func (s *Session) askWatched() bool {
	requests := s.watches.Requests()
	if len(requests) == 0 {
		return false
	}
	calls := make([]*transport.Call, 0, len(requests))
	for _, r := range requests {
		removes := r.Op == watches.RemoveData || r.Op == watches.RemoveChildren
		if !removes || !s.support.Lacks(transport.FeatureRemoveWatches) {
			calls = append(calls, s.watchCall(r))
		}
	}
	s.send(calls...)
	return true
}

func (s *Session) watchCall(r watches.Request) *transport.Call {
	switch r.Op {
	case watches.ReadData:
		return transport.Get(r.Path, r.Watch, func(data []byte, stat *zk.Stat, err error) {
			s.watchAnswered(r, watches.Answer{Stat: stat, Data: data, Err: err})
		})
	case watches.ReadStat:
		return transport.Exists(r.Path, r.Watch, func(stat *zk.Stat, err error) {
			s.watchAnswered(r, watches.Answer{Stat: stat, Err: err})
		})
	case watches.ReadChildren:
		return transport.Children(r.Path, r.Watch, func(children []string, stat *zk.Stat, err error) {
			s.watchAnswered(r, watches.Answer{Stat: stat, Children: children, Err: err})
		})
	}
	answered := func(err error) { s.watchAnswered(r, watches.Answer{Err: err}) }
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

// watchAnswered applies the answer to a request of the table. Observers of children hear of it first.
func (s *Session) watchAnswered(r watches.Request, a watches.Answer) {
	a.Outcome = outcome(r.Op, a.Err)
	switch {
	case a.Outcome == watches.Missing:
		s.notifyGone(r.Path)
	case a.Outcome == watches.Found && r.Op == watches.ReadChildren:
		s.notifyListed(r.Path, a.Children, a.Stat)
	}
	s.mu.Lock()
	planned := s.watches.HasRefused()
	broken := s.watches.Answered(r, a, time.Now())
	if s.watches.HasRefused() && !planned {
		s.planAskingAgain()
	}
	s.askWatched()
	wakes := s.watches.Wakes()
	s.mu.Unlock()
	if broken { // the session has moved, for instance: the next connection asks again
		s.transport.Break(a.Err)
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

// passing reports whether the server may soon answer otherwise.
func passing(err error) bool {
	var code transport.Code
	return errors.As(err, &code) && code.Passing()
}

// setWatches sets every watch on a new connection. mu is held.
func (s *Session) setWatches() {
	set := func() { s.watches.Attached(time.Now(), s.leases.timeout) }
	var kinds []*transport.Call
	if s.watches.HasTrees() {
		kinds = append(kinds, transport.WatchTree("/", nil))
	}
	if !s.watches.IsEmpty() {
		kinds = append(kinds, transport.Get("/", false, nil), transport.Exists("/", false, nil), transport.Children("/", false, nil))
	}
	s.askSurely(set, kinds...)
}

// askSurely has the table make requests of the given kinds, and sends them. If connections have ended on such requests,
// another request must be answered first, or the next end says nothing: a watch is the first request of most
// connections. mu is held.
func (s *Session) askSurely(ask func(), kinds ...*transport.Call) {
	if !slices.ContainsFunc(kinds, s.support.Doubts) {
		ask()
		s.askWatched()
		return
	}
	s.send(s.sureFirst(func() []*transport.Call {
		ask()
		s.askWatched()
		return nil
	}))
}

// planAskingAgain has runClock repeat what an overloaded server has refused, after growing pauses. mu is held.
func (s *Session) planAskingAgain() {
	now := s.clock.Now()
	s.askAgain = now.Add(s.pace.Next(now.Sub(s.askAgain)))
	s.wakeClock()
}

// askDueWatches asks for what was deferred, or refused by an overloaded server. mu is held.
func (s *Session) askDueWatches(now time.Time) {
	if s.watches.HasDeferred() && !now.Before(s.putOff) {
		s.watches.SetDeferred(time.Now())
	}
	if s.watches.HasRefused() && !now.Before(s.askAgain) {
		s.watches.AskAgain(time.Now())
	}
	s.askWatched()
}

// readLateWatches reads what has not changed for long, and returns when to look at the table again. mu is held.
func (s *Session) readLateWatches(now time.Time) (next time.Time) {
	next = now.Add(s.watches.ReadLate(time.Now()))
	s.askWatched()
	if s.watches.HasDeferred() {
		next = earliest(next, s.putOff)
	}
	if s.watches.HasRefused() {
		next = earliest(next, s.askAgain)
	}
	return next
}

// onWatch applies a watch event. Neither watches nor observers believe an event that nothing asked for.
func (s *Session) onWatch(e transport.WatchEvent) {
	s.mu.Lock()
	watched := s.watches.Watches(e.Path)
	s.mu.Unlock()
	if watched && e.Type == zk.EventNodeDeleted {
		s.notifyGone(e.Path)
	}
	s.mu.Lock()
	s.watches.Event(e.Type, e.Path, time.Now())
	s.askWatched()
	wakes := s.watches.Wakes()
	s.mu.Unlock()
	call(wakes)
}

// call calls what the table returned to be called without mu.
func call(wakes []func()) {
	for _, wake := range wakes {
		wake()
	}
}
