package session

import (
	"runtime"
	"time"
)

// A term is a stretch of time during which a session was valid without a gap. Bindings belong to a term: one that has
// ended stays ended, also if the session is renewed later.
type term struct {
	session *Session

	// Guarded by session.mu.
	bindings []*Binding // in no order
	err      error
	until    time.Time // when it ended
}

// A Binding ties something, a lease for instance, to the validity of a session: to the time until which no server can
// have given the session's nodes to another.
type Binding struct {
	term  *term
	end   func(cause error)
	tidy  func()
	index int // in term.bindings; guarded by session.mu
}

// Bind begins a binding. If the session ceases to be valid, end is called once with the cause: [ErrLapsed],
// [ErrSuspended], [ErrSessionLost] or [ErrClosed]. It is called before the session's Done is closed and before
// listeners hear of the LOST state, from any goroutine, must not block, and should do no more than tell who relies on
// the binding: the other bindings of the session wait for their end meanwhile. What else there is to be done is for
// tidy, which may be nil: it is called once after end, when all bindings have ended and the listeners have been told,
// on a goroutine of the client, and must not block either.
//
// It fails, with one of the same errors, if the session is not valid now: check and beginning are one step.
func (s *Session) Bind(end func(cause error), tidy func()) (*Binding, error) {
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

// Err is nil while the binding is valid. It compares the time, and so is right also when timers are late: after the
// process, or the machine, was suspended.
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

// ValidUntil is when the binding ends unless it is renewed before, or when it ended. It is a time of the ordinary
// clock.
func (b *Binding) ValidUntil() time.Time {
	s := b.term.session
	s.mu.Lock()
	defer s.mu.Unlock()
	if b.term.err != nil {
		return s.clock.Wall(b.term.until)
	}
	return s.clock.Wall(s.leases.validUntil())
}

// Release ends the binding; end and tidy are not called from then on, but they may be running, or about to.
func (b *Binding) Release() {
	s := b.term.session
	s.mu.Lock()
	defer s.mu.Unlock()
	b.term.remove(b)
}

// remove takes a binding out, unless it is not there any more. mu is held.
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

// lapse ends the term if its time is up. Like every function that returns a term, it leaves telling the bindings to the
// caller, after mu is released.
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
	s.telling.Add(1) // tell takes it back
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

// end tells the bindings of an ended term, and has them tidied up. It is called once for each term, without mu; t may
// be nil.
func (t *term) end() {
	if t != nil {
		t.session.tidy(t.tell())
	}
}

// tell tells the bindings of an ended term, and returns them, to be tidied up when everything that is urgent has been
// told. A lease that ends late may have been given to another client already, so nothing else is done between the first
// binding and the last.
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

// tidyBatch is how many bindings are tidied up before other goroutines have their turn.
const tidyBatch = 64

// tidy has ended bindings tidied up, on a goroutine of its own: with many of them it takes a while. It lets the
// goroutines run first that have been told, which may be many more than there are processors.
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

// String names the session. What else a binding is made of changes while it is printed.
func (b *Binding) String() string { return "binding in " + b.term.session.String() }

// GoString is String.
func (b *Binding) GoString() string { return b.String() }
