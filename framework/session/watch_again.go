package session

import (
	"errors"
	"time"

	"github.com/gocurator/curator/framework/internal/transport"
)

// An overloaded server may refuse to set a watch. The session then asks again, for all such watches at a time, on the same
// connection and after pauses that grow. To leave the connection would have the next server set all of the session's watches.

// passing reports whether the server may well answer otherwise in a moment.
func passing(err error) bool {
	var code transport.Code
	return errors.As(err, &code) && code.Passing()
}

// putBack has a watch asked for again that was not set. Until it is, nothing is known of its node. mu is held.
func (s *Session) putBack(w *watch) {
	w.view = View{}
	if len(s.refused) == 0 {
		now := s.clock.Now()
		s.askAgain = now.Add(s.pace.Next(now.Sub(s.askAgain)))
		s.wakeClock()
	}
	s.refused = append(s.refused, w)
}

// armRefused asks again for the watches that were put back, if it is time and they are still wanted. mu is held.
func (s *Session) armRefused(now time.Time) {
	if len(s.refused) == 0 || now.Before(s.askAgain) {
		return
	}
	for _, w := range s.refused {
		if s.watches[w.key] == w && w.view.Status == StatusUnknown && !w.awaitsAnswer() {
			s.send(s.arm(w))
		}
	}
	s.refused = nil
}
