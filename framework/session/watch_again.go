package session

import (
	"errors"
	"time"

	"github.com/gocurator/curator/framework/internal/transport"
)

// An overloaded server may refuse to set a watch, or to take one off. The session then asks again, for all that was
// refused at a time, on the same connection and after pauses that grow. To leave the connection would have the next
// server set all of the session's watches.

// passing reports whether the server may well answer otherwise in a moment.
func passing(err error) bool {
	var code transport.Code
	return errors.As(err, &code) && code.Passing()
}

// putBack has something asked for again that was refused. again makes the requests, with mu held, unless they are not
// wanted any more: the connection may be another one by then, or a watch may be wanted again that was to be taken off.
// mu is held.
func (s *Session) putBack(again func() []*transport.Call) {
	if len(s.refused) == 0 {
		now := s.clock.Now()
		s.askAgain = now.Add(s.pace.Next(now.Sub(s.askAgain)))
		s.wakeClock()
	}
	s.refused = append(s.refused, again)
}

// askForRefused asks again for what was put back, if it is time. mu is held.
func (s *Session) askForRefused(now time.Time) {
	if len(s.refused) == 0 || now.Before(s.askAgain) {
		return
	}
	refused := s.refused
	s.refused = nil
	for _, again := range refused {
		s.send(again()...)
	}
}

// putBackWatch has a watch asked for again. Until it is set, nothing is known of its node. mu is held.
func (s *Session) putBackWatch(w *serverWatch) {
	w.view = View{}
	s.putBack(func() []*transport.Call {
		if s.watches[w.key] != w || w.view.Status != StatusUnknown || w.awaitsAnswer() {
			return nil
		}
		return one(s.arm(w))
	})
}

// putBackTree has the watch on a tree asked for again. mu is held.
func (s *Session) putBackTree(t *tree) {
	s.putBack(func() []*transport.Call {
		if s.trees[t.path] != t {
			return nil
		}
		return s.armTree(t)
	})
}

// takenOff is for the answer to a request that takes a watch off the server.
func (s *Session) takenOff(err error, again func() []*transport.Call) {
	if passing(err) {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.putBack(again)
	}
}
