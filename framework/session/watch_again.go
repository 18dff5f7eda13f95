package session

import (
	"errors"
	"time"

	"github.com/gocurator/curator/framework/internal/transport"
)

// An overloaded server may refuse to set a watch, or to take one off. The session then asks again for all of these, on
// the same connection and after growing pauses. On another connection it would have to set all its watches.

// passing reports whether the server may soon answer otherwise.
func passing(err error) bool {
	var code transport.Code
	return errors.As(err, &code) && code.Passing()
}

// putBack asks again later for what was refused. again makes the requests, with mu held, if they are still wanted: the
// connection may be another by then, or the watch wanted again that was to be taken off. mu is held.
func (s *Session) putBack(again func() []*transport.Call) {
	if len(s.refused) == 0 {
		now := s.clock.Now()
		s.askAgain = now.Add(s.pace.Next(now.Sub(s.askAgain)))
		s.wakeClock()
	}
	s.refused = append(s.refused, again)
}

// mu is held.
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

// Until the watch is set, nothing is known of its node, unless it was to be read again alone. mu is held.
func (s *Session) putBackWatch(w *serverWatch, readAgain bool) {
	if !readAgain {
		w.view = View{}
	}
	s.putBack(func() []*transport.Call {
		switch {
		case s.watches[w.key] != w || w.awaitsAnswer():
			return nil
		case readAgain:
			return one(s.armAgain(w))
		case w.view.Status != StatusUnknown:
			return nil
		}
		return one(s.arm(w))
	})
}

// mu is held.
func (s *Session) putBackTree(t *tree) {
	s.putBack(func() []*transport.Call {
		if s.trees[t.path] != t {
			return nil
		}
		return s.armTree(t)
	})
}

// takenOff handles the answer to a request that takes a watch off.
func (s *Session) takenOff(err error, again func() []*transport.Call) {
	if passing(err) {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.putBack(again)
	}
}
