package session

import (
	"errors"
	"fmt"
	"time"

	"github.com/gocurator/curator/framework/internal/transport"
)

// runClock watches the session's clock until it is over: it ends leases and the session in time, and renews them.
func (s *Session) runClock(closing <-chan struct{}) {
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
		next := s.tick(s.clock.Now())
		timer.Reset(next.Sub(s.clock.Now()))
	}
}

// wakeClock makes runClock recompute its next deadline: something is due earlier than it expects.
func (s *Session) wakeClock() {
	select {
	case s.wake <- struct{}{}:
	default:
	}
}

// tick does what is due and returns when to look again.
func (s *Session) tick(now time.Time) time.Time {
	s.mu.Lock()
	if lapsed := s.lapse(now); lapsed != nil { // nothing else that is due comes before the end of leases
		s.mu.Unlock()
		lapsed.end()
		return s.tick(now)
	}
	if s.ID() == 0 || s.over != nil {
		s.mu.Unlock()
		return now.Add(time.Hour) // until the handshake is answered nothing is due
	}
	deadline := s.leases.deadline()
	if !now.Before(deadline) {
		// In one step with the look at the clock: an attachment that comes in between must not be ended for what was
		// before.
		conclude := s.conclude(fmt.Errorf("%w: no answer from any server for the session timeout", ErrSessionLost))
		s.mu.Unlock()
		conclude()
		return now
	}
	s.armDeferred(now)
	s.askForRefused(now)
	renew, next := s.dueRenewal(now)
	if renew {
		s.renew(now)
		next = s.renewalLimit()
	}
	silent := s.online && !renew && !s.renewalSent.IsZero() && !now.Before(s.renewalLimit())
	if silent {
		s.renewalSent, s.renewalRepeated, s.patient = now, time.Time{}, true // a new chance, on a new connection
	}
	if s.term != nil {
		next = earliest(next, s.leases.validUntil())
	}
	if len(s.deferred) > 0 {
		next = earliest(next, s.putOff)
	}
	if len(s.refused) > 0 {
		next = earliest(next, s.askAgain)
	}
	next = earliest(next, deadline)
	s.planned = next
	s.mu.Unlock()
	if silent {
		// The server may have lost its leader, or may be gone. Another one may not be.
		s.transport.Break(errNoRenewal)
	}
	return next
}

// renew asks for what moves the deadline of leases. A renewal that is under way keeps its limit. mu is held.
func (s *Session) renew(now time.Time) {
	reach := s.needs()
	if !s.renewalSent.IsZero() && s.renewalReach >= reach {
		s.renewalRepeated = now
		s.send(s.renewal(reach))
		return
	}
	s.renewalSent, s.renewalReach, s.renewalRepeated, s.renewalArrivals = now, reach, time.Time{}, s.transport.Arrivals()
	// A ping goes ahead: behind a renewal it would be answered no earlier. Behind a write it would not be, either.
	s.pinged = s.transport.Quiet()
	if s.pinged {
		s.send(transport.Ping(func(error) {}))
	}
	s.send(s.renewal(reach))
}

// needsWake reports whether something is due before runClock looks again, now that the session is in use. mu is held.
func (s *Session) needsWake(now time.Time) bool {
	renew, next := s.dueRenewal(now)
	return renew || next.Before(s.planned) || s.term != nil && s.leases.validUntil().Before(s.planned)
}

var errNoRenewal = errors.New("the server does not answer for its leader, or not at all")

// renewalLimit is when the connection is given up because the renewal is not answered. mu is held.
func (s *Session) renewalLimit() time.Time {
	return s.renewalSent.Add(renewalPatience(s.leases.timeout, s.pinged, s.transport.Arrivals() != s.renewalArrivals, s.patient))
}

// renewalPatience is how long a renewal may take. A server that is silent altogether, though it has been pinged, is
// left after an eighth of the timeout: most of the lease is then still there to find another one. If something has
// arrived since the renewal was sent, only the leader may be missing, or its disks slow. If there was no ping, since it
// would have had to wait behind a write, the write may be slow. The connection is then given a third, as it is when the
// last one was given up: the silence may be this client's own link, and moving on would never end.
func renewalPatience(timeout time.Duration, pinged, heard, patient bool) time.Duration {
	if !pinged || heard || patient {
		return timeout / 3
	}
	return timeout / 8
}

// renewal is a request that only the leader can answer, or only a majority. The latter is a transaction that changes
// nothing, and that a majority has to write down all the same. It does not matter whether it succeeds, so the client
// need not have the right to read the root: the refusal is a transaction, too.
func (s *Session) renewal(reach transport.Reach) *transport.Call {
	if reach == transport.ReachMajority {
		root := join(s.cfg.Chroot, "")
		return transport.Multi([]transport.Op{transport.CheckOp(root, -1)}, func([]transport.OpResult, error) {})
	}
	return transport.Sync("/", func(error) {})
}

// dueRenewal says whether the leader, or a majority, must be asked now, and when to look again. mu is held. While
// nothing is held or watched there is nothing to renew; while a request is on its way that reaches far enough, its
// answer will do, unless it was sent too early for what has been heard meanwhile.
func (s *Session) dueRenewal(now time.Time) (due bool, next time.Time) {
	never := now.Add(s.leases.timeout)
	reach := s.needs()
	switch {
	case !s.online || s.over != nil || reach == transport.ReachServer:
		return false, never
	case !s.renewalSent.IsZero() && s.renewalReach >= reach:
		limit := s.renewalLimit()
		early, ok := s.leases.earlyRenewal(reach)
		if !ok || !early.Before(limit) || !latest(s.renewalSent, s.renewalRepeated).Before(early) {
			return false, limit
		}
		return !now.Before(early) && now.Before(limit), early
	}
	at := s.leases.renewal(reach)
	if now.Before(at) {
		return false, at
	}
	return true, now
}
