package session

import (
	"maps"

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

// rearm sets every watch again after a reconnection, and reads each node: setWatches and setWatches2 would say that it
// has changed, and not to what; of trees they would say nothing. mu is held.
func (s *Session) rearm() []*transport.Call {
	var calls []*transport.Call
	for w := range maps.Values(s.watches) {
		if w.view.Status == StatusUnknown || w.lasting() {
			calls = append(calls, s.arm(w))
		}
	}
	return calls
}
