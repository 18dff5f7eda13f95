package session

import (
	"errors"
	"fmt"
	"time"

	"github.com/gocurator/curator/framework/internal/transport"
)

// runClock ends leases and the session in time, and renews them, until the session is over.
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

// wakeClock makes runClock recompute its next deadline.
func (s *Session) wakeClock() {
	select {
	case s.wake <- struct{}{}:
	default:
	}
}

// tick does what is due and returns when to look again.
func (s *Session) tick(now time.Time) time.Time {
	s.mu.Lock()
	if lapsed := s.lapse(now); lapsed != nil { // the end of leases comes first
		s.mu.Unlock()
		lapsed.end()
		return s.tick(now)
	}
	if s.ID() == 0 || s.over != nil {
		s.mu.Unlock()
		return now.Add(time.Hour) // nothing is due before the handshake's answer
	}
	deadline := s.leases.deadline()
	if !now.Before(deadline) {
		// In one step with the look at the clock: an attachment in between must not be ended for what was before.
		conclude := s.conclude(fmt.Errorf("%w: no answer from any server for the session timeout", ErrSessionLost))
		s.mu.Unlock()
		conclude()
		return now
	}
	s.send(s.dueSearches(now)...)
	s.askDueWatches(now)
	renew, next := s.dueRenewal(now)
	if renew {
		s.renew(now)
		next = s.renewalLimit()
	}
	silent := s.online && !renew && !s.renewalSent.IsZero() && !now.Before(s.renewalLimit())
	if silent {
		s.renewalSent, s.renewalRepeated = now, time.Time{} // a new chance, on a new connection
		s.renewalsLost = min(s.renewalsLost+1, mostRenewalsLost)
	}
	if s.term != nil {
		next = earliest(next, s.leases.validUntil())
	}
	next = earliest(earliest(next, s.removeAgain(now)), s.readLateWatches(now))
	next = earliest(earliest(next, s.nextLook(now)), deadline)
	s.planned = next
	s.mu.Unlock()
	if silent {
		s.transport.Break(errNoRenewal)
	}
	return next
}

// renew asks for what renews leases. A renewal under way keeps its limit. mu is held.
func (s *Session) renew(now time.Time) {
	reach := s.needs()
	if !s.renewalSent.IsZero() && s.renewalReach >= reach {
		s.renewalRepeated = now
		s.send(s.renewal(reach))
		return
	}
	s.renewalSent, s.renewalReach, s.renewalRepeated, s.renewalArrivals = now, reach, time.Time{}, s.transport.Arrivals()
	// A ping goes ahead: behind a renewal, or any write, its answer would come no earlier.
	s.pinged = s.transport.Quiet()
	if s.pinged {
		s.send(transport.Ping(func(error) {}))
	}
	s.send(s.renewal(reach))
}

// needsWake reports whether something is due before runClock looks again. mu is held.
func (s *Session) needsWake(now time.Time) bool {
	renew, next := s.dueRenewal(now)
	return renew || next.Before(s.planned) || s.term != nil && s.leases.validUntil().Before(s.planned)
}

var errNoRenewal = errors.New("the server does not answer for its leader, or not at all")

// renewalLimit is when an unanswered renewal ends the connection. mu is held.
func (s *Session) renewalLimit() time.Time {
	return s.renewalSent.Add(renewalPatience(s.leases.timeout, s.pinged, s.transport.Arrivals() != s.renewalArrivals, s.renewalsLost))
}

// renewalPatience is how long a renewal may take. A server that is silent altogether, though pinged, is left after an
// eighth of the timeout, while most of the lease remains to find another. If something has arrived since, only the
// leader may be missing, or its disks slow. Without a ping, which would have waited behind a write, the write may be
// slow. The connection then gets a third, as it does after one that was given up: the silence may be this client's own
// link, and moving on would never end. When two connections in a row were given up, leases are about to end in any
// case. Where a majority needs longer than a third, the next connections would all be given up as well, and no
// contender would ever get in. So each of them gets twice as long as the one before.
func renewalPatience(timeout time.Duration, pinged, heard bool, lost int) time.Duration {
	switch {
	case lost > 1:
		return timeout / 3 << (lost - 1)
	case !pinged || heard || lost == 1:
		return timeout / 3
	default:
		return timeout / 8
	}
}

// mostRenewalsLost keeps renewalPatience from an overflow.
const mostRenewalsLost = 10

// renewed notes that a renewal's answer took so long: the next one may take no longer than it needs to. mu is held.
func (s *Session) renewed(took time.Duration) {
	for s.renewalsLost > 0 && took < renewalPatience(s.leases.timeout, true, false, s.renewalsLost-1) {
		s.renewalsLost--
	}
}

// renewal is a request that only the leader can answer, or only a majority, which writes down a transaction that
// changes nothing all the same.
func (s *Session) renewal(reach transport.Reach) *transport.Call {
	if reach == transport.ReachMajority {
		return s.fence(func(error) {})
	}
	return transport.Sync("/", func(error) {})
}

// dueRenewal says whether to ask the leader, or a majority, now, and when to look again. mu is held. With nothing held
// or watched there is nothing to renew; a request under way that reaches far enough will do, unless it was sent too
// early for what has been heard meanwhile.
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
