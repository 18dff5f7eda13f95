package session

import (
	"maps"
	"slices"

	"github.com/gocurator/curator/framework/internal/transport"
)

// forgetWatches is for a lost connection, whose server forgets its watches. mu is held.
func (s *Session) forgetWatches() {
	for _, w := range s.watches {
		if w.view.Status == StatusPresent {
			w.view = View{}
		}
		w.requests++
		w.answered = w.requests
	}
	for _, t := range s.trees {
		t.forget()
	}
}

// rearm sets every watch again after a reconnection. If connections have ended on requests of a watch, another request
// must be answered first, or the next end says nothing: a watch is the first request of most connections. mu is held.
func (s *Session) rearm() []*transport.Call {
	reads := []*transport.Call{transport.Get("/", false, nil), transport.Exists("/", false, nil), transport.Children("/", false, nil)}
	if len(s.watches) == 0 || !slices.ContainsFunc(reads, s.support.Doubts) {
		return s.reads()
	}
	return one(s.sureFirst(s.reads))
}

// reads makes the requests that set the watches, and read each node: setWatches and setWatches2 would say that it has
// changed, and not to what; of trees they would say nothing. mu is held.
func (s *Session) reads() []*transport.Call {
	var calls []*transport.Call
	for w := range maps.Values(s.watches) {
		if w.view.Status == StatusUnknown || w.lasting() {
			calls = append(calls, s.arm(w))
		}
	}
	return calls
}
