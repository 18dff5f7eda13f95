package session

import (
	"errors"
	"fmt"
	"runtime"
	"time"
)

// A term is a stretch of time during which a session was valid without a gap. A binding ends with its term, also if the
// session is renewed later.
type term struct {
	session *Session

	// Guarded by session.mu.
	bindings []*Binding // in no order
	err      error
	until    time.Time // when it ended
}

// A Binding ties something, a lease for instance, to the time until which no server can have given the session's nodes
// to another.
type Binding struct {
	term  *term
	end   func(cause error)
	tidy  func()
	index int // in term.bindings; guarded by session.mu
}

// Bind begins a binding. If the session ceases to be valid, end is called once with the cause: [ErrLapsed],
// [ErrSuspended], [ErrSessionLost] or [ErrClosed]; before the session's Done is closed and listeners hear of LOST; from
// any goroutine. It must not block, and should only notify who relies on the binding: the session's other bindings wait
// for their end meanwhile. The rest is for tidy, which may be nil: it is called once after the ends of all bindings and
// the listeners, on a goroutine of the client, and must not block either.
//
// Bind fails, with one of these errors, if the session is not valid: check and beginning are one step. It also refuses
// a nil end.
func (s *Session) Bind(end func(cause error), tidy func()) (*Binding, error) {
	if end == nil {
		return nil, errors.New("session: Bind: the function is nil")
	}
	now := s.clock.Now()
	s.mu.Lock()
	lapsed := s.lapse(now)
	t, over := s.term, s.over
	var b *Binding
	if t != nil && over == nil {
		b = &Binding{term: t, end: end, tidy: tidy, index: len(t.bindings)}
		t.bindings = append(t.bindings, b)
	}
	overtaken := b != nil && s.needsWake(now)
	s.mu.Unlock()
	lapsed.end()
	switch {
	case over != nil:
		return nil, over
	case b == nil:
		return nil, ErrLapsed
	}
	if overtaken {
		s.wakeClock()
	}
	return b, nil
}

// Err is nil while the binding is valid. It compares the time, and so is right also when timers are late, after a
// suspension of the process or the machine.
func (b *Binding) Err() error {
	s := b.term.session
	now := s.clock.Now()
	s.mu.Lock()
	lapsed := s.lapse(now)
	err := b.term.err
	s.mu.Unlock()
	lapsed.end()
	return err
}

// ValidUntil is when the binding ends without a renewal, or ended, by the ordinary clock.
func (b *Binding) ValidUntil() time.Time {
	s := b.term.session
	s.mu.Lock()
	defer s.mu.Unlock()
	if b.term.err != nil {
		return s.clock.Wall(b.term.until)
	}
	return s.clock.Wall(s.leases.validUntil())
}

// Release ends the binding. No call of end and tidy begins after it but one that was about to.
func (b *Binding) Release() {
	s := b.term.session
	s.mu.Lock()
	defer s.mu.Unlock()
	b.term.remove(b)
}

// mu is held.
func (t *term) remove(b *Binding) {
	if b.index >= len(t.bindings) || t.bindings[b.index] != b {
		return
	}
	last := len(t.bindings) - 1
	t.bindings[b.index] = t.bindings[last]
	t.bindings[b.index].index = b.index
	t.bindings[last] = nil
	t.bindings = t.bindings[:last]
}

// lapse ends the term if its time is up. Like every function that returns a term, it leaves the bindings to the caller,
// which notifies them without mu.
func (s *Session) lapse(now time.Time) *term {
	if s.term == nil || now.Before(s.leases.validUntil()) {
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
	s.telling.Add(1) // until tell
	s.valid = make(chan struct{})
	t.err = cause
	t.until = s.leases.validUntil()
	if now := s.clock.Now(); now.Before(t.until) {
		t.until = now
	}
	return t
}

// renewTerm begins a term if the session is connected and valid and has none.
func (s *Session) renewTerm(now time.Time) {
	if s.term == nil && s.online && s.over == nil && now.Before(s.leases.validUntil()) {
		s.term = &term{session: s}
		close(s.valid)
	}
}

// end ends the bindings of an ended term, and has them tidied up: once for each term, without mu. t may be nil.
func (t *term) end() {
	if t != nil {
		t.session.tidy(t.tell())
	}
}

// tell ends the bindings of an ended term, and returns them for tidy. It does nothing else between the first and the
// last: a lease that ends late may have been given to another client already.
func (t *term) tell() []*Binding {
	if t == nil {
		return nil
	}
	defer t.session.telling.Done()
	t.session.mu.Lock()
	bindings := t.bindings
	t.bindings = nil
	t.session.mu.Unlock()
	for _, b := range bindings {
		b.end(t.err)
	}
	return bindings
}

const tidyBatch = 64

// tidy has ended bindings tidied up, on a goroutine of its own: many take a while. The goroutines that were notified,
// which may be many more than there are processors, run first.
func (s *Session) tidy(bindings []*Binding) {
	if len(bindings) == 0 {
		return
	}
	s.tell.Chore(func() {
		for i, b := range bindings {
			if i%tidyBatch == 0 {
				runtime.Gosched()
			}
			if b.tidy != nil {
				b.tidy()
			}
		}
	})
}

// String names the session alone: the rest changes while it is printed.
func (b *Binding) String() string {
	if b.term == nil {
		return "binding that Bind did not make"
	}
	return "binding in " + b.term.session.String()
}

// Format is String by every verb.
func (b *Binding) Format(f fmt.State, verb rune) { FormatText(f, verb, b.String()) }
