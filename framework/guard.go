package framework

import (
	"errors"
	"fmt"
	"time"

	"github.com/gocurator/curator/framework/internal/clock"
	"github.com/gocurator/curator/framework/internal/transport"
)

// guard watches the session's clock until it is over: it ends leases and the session in time, and renews them.
func (s *Session) guard(closing <-chan struct{}) {
	timer := time.NewTimer(0)
	defer timer.Stop()
	for {
		select {
		case <-timer.C:
		case <-s.wake:
		case <-s.done:
			return
		case <-closing:
			s.end(ErrClosed)
			return
		}
		next := s.tick(clock.Now())
		timer.Reset(next.Sub(clock.Now()))
	}
}

// look asks the guard to look at the clock: something is due earlier than it thinks.
func (s *Session) look() {
	select {
	case s.wake <- struct{}{}:
	default:
	}
}

// tick does what is due and returns when to look again.
func (s *Session) tick(now time.Time) time.Time {
	s.mu.Lock()
	lapsed := s.lapse(now)
	if s.id == 0 || s.over != nil {
		s.mu.Unlock()
		return now.Add(time.Hour) // until the handshake is answered there is nothing to guard
	}
	deadline := s.contact.deadline()
	if !now.Before(deadline) {
		// In one step with the look at the clock: an attachment that comes in between must not be ended for what was before.
		conclude := s.conclude(fmt.Errorf("%w: no answer from any server for the session timeout", ErrSessionLost))
		s.mu.Unlock()
		lapsed.end()
		conclude()
		return now
	}
	s.armDeferred(now)
	renew, next := s.dueRenewal(now)
	if renew {
		s.asked = now
		s.send(s.renewal())
	}
	silent := s.online && !renew && !s.asked.IsZero() && !now.Before(s.asked.Add(s.contact.timeout/3))
	if silent {
		s.asked = now // a new chance, on a new connection
	}
	if s.term != nil && s.contact.validUntil().Before(next) {
		next = s.contact.validUntil()
	}
	if len(s.deferred) > 0 && s.putOff.Before(next) {
		next = s.putOff
	}
	if deadline.Before(next) {
		next = deadline
	}
	s.planned = next
	s.mu.Unlock()
	lapsed.end()
	if silent {
		// The server answers no sync: it may have lost its leader. Another one may not have.
		s.transport.Break(errNoRenewal)
	}
	return next
}

// overtaken reports whether something is due before the guard looks at the clock again, now that somebody relies on the session.
// mu is held.
func (s *Session) overtaken(now time.Time) bool {
	renew, next := s.dueRenewal(now)
	return renew || next.Before(s.planned) || s.term != nil && s.contact.validUntil().Before(s.planned)
}

var errNoRenewal = errors.New("the server does not answer for its leader")

// renewal is a request that only the leader can answer. With quorum it is a transaction that changes nothing, and that a
// majority has to write down all the same; it does not matter whether it succeeds.
func (s *Session) renewal() *transport.Call {
	if s.core.cfg.quorum {
		root := join(s.core.cfg.chroot, "")
		return transport.Multi([]transport.Op{transport.CheckOp(root, -1)}, func([]transport.OpResult, error) {})
	}
	return transport.Sync("/", func(error) {})
}

// dueRenewal says whether the leader must be asked now, and when to look again. mu is held. While nothing is held or watched
// there is nothing to renew; while a request is on its way to the leader, its answer will do.
func (s *Session) dueRenewal(now time.Time) (due bool, next time.Time) {
	never := now.Add(s.contact.timeout)
	switch {
	case !s.online || s.over != nil || !s.wanted():
		return false, never
	case !s.asked.IsZero():
		return false, s.asked.Add(s.contact.timeout / 3)
	}
	at := s.contact.renewal()
	if now.Before(at) {
		return false, at
	}
	return true, now.Add(s.contact.timeout / 4) // if it is answered by then, the next is due at once
}
