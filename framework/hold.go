package framework

import (
	"time"

	"github.com/gocurator/curator/framework/internal/clock"
)

// A term is a stretch of time during which a session was valid without a gap. Holds belong to a term: one that has ended
// stays ended, also if the session is renewed later.
type term struct {
	session *Session

	// Guarded by session.mu.
	holds map[*Hold]struct{}
	err   error
	until time.Time // when it ended
}

// A Hold ties something, a lease for instance, to the validity of a session: to the time until which no server can have given
// the session's nodes to somebody else.
type Hold struct {
	term *term
	end  func(cause error)
}

// Hold begins a hold. If the session ceases to be valid, end is called once with the cause: [ErrLapsed], [ErrSuspended],
// [ErrSessionLost] or [ErrClosed]. It is called before the session's Done is closed and before listeners hear of
// [StateLost], from any goroutine, and must not block.
//
// It fails, with one of the same errors, if the session is not valid now: check and beginning are one step.
func (s *Session) Hold(end func(cause error)) (*Hold, error) {
	now := clock.Now()
	s.mu.Lock()
	lapsed := s.lapse(now)
	t, over := s.term, s.over
	var h *Hold
	if t != nil && over == nil {
		h = &Hold{term: t, end: end}
		t.holds[h] = struct{}{}
	}
	overtaken := h != nil && s.overtaken(now)
	s.mu.Unlock()
	lapsed.end()
	switch {
	case over != nil:
		return nil, over
	case h == nil:
		return nil, ErrLapsed
	}
	if overtaken {
		s.look()
	}
	return h, nil
}

// Err is nil while the hold is valid. It compares the time, and so is right also when timers are late: after the process, or
// the machine, was suspended.
func (h *Hold) Err() error {
	s := h.term.session
	now := clock.Now()
	s.mu.Lock()
	lapsed := s.lapse(now)
	err := h.term.err
	s.mu.Unlock()
	lapsed.end()
	return err
}

// ValidUntil is when the hold ends unless it is renewed before, or when it ended. It is a time of the ordinary clock.
func (h *Hold) ValidUntil() time.Time {
	s := h.term.session
	s.mu.Lock()
	defer s.mu.Unlock()
	if h.term.err != nil {
		return clock.Wall(h.term.until)
	}
	return clock.Wall(s.contact.validUntil())
}

// Release ends the hold; end is not called from then on, but it may be running.
func (h *Hold) Release() {
	s := h.term.session
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(h.term.holds, h)
}

// lapse ends the term if its time is up. Like every function that returns a term, it leaves telling the holds to the caller,
// after mu is released.
func (s *Session) lapse(now time.Time) *term {
	if s.term == nil || now.Before(s.contact.validUntil()) {
		return nil
	}
	return s.endTerm(ErrLapsed)
}

func (s *Session) endTerm(cause error) *term {
	t := s.term
	if t == nil {
		return nil
	}
	s.term = nil
	s.valid = make(chan struct{})
	t.err = cause
	t.until = s.contact.validUntil()
	if now := clock.Now(); now.Before(t.until) {
		t.until = now
	}
	return t
}

// renewTerm begins a term if the session is connected and valid and has none.
func (s *Session) renewTerm(now time.Time) {
	if s.term == nil && s.online && s.over == nil && now.Before(s.contact.validUntil()) {
		s.term = &term{session: s, holds: map[*Hold]struct{}{}}
		close(s.valid)
	}
}

// end tells the holds of an ended term. It is called once for each, without mu; t may be nil.
func (t *term) end() {
	if t == nil {
		return
	}
	t.session.mu.Lock()
	holds := t.holds
	t.holds = nil
	t.session.mu.Unlock()
	for h := range holds {
		h.end(t.err)
	}
}
