package live

import (
	"errors"
	"fmt"
	"time"

	"github.com/gocurator/curator/framework/internal/cause"
	"github.com/gocurator/curator/framework/session"
)

// runClock ends leases and the session in time, and renews them, until the session is over.
func (o *Runner) runClock(closing <-chan struct{}) {
	timer := time.NewTimer(0)
	defer timer.Stop()
	for {
		select {
		case <-timer.C:
		case <-o.wake:
		case <-o.done:
			return
		case <-closing:
			o.end(session.ErrClosed, cause.ClientClosed)
			return
		}
		next := o.tick(o.clock.Now())
		timer.Reset(next.Sub(o.clock.Now()))
	}
}

// tick does what is due and returns when to look again.
func (o *Runner) tick(now time.Time) time.Time {
	o.mu.Lock()
	o.validity.ranLocked(now)
	if lapsed := o.validity.lapseLocked(now); lapsed != nil { // the end of leases comes first
		o.mu.Unlock()
		lapsed.end()
		return o.tick(now)
	}
	if o.sessionID() == 0 || o.over != nil {
		o.mu.Unlock()
		return now.Add(time.Hour) // nothing is due before the handshake's answer
	}
	deadline := o.leases.deadline()
	if !now.Before(deadline) {
		// In one step with the look at the clock: an attachment in between must not be ended for what was before.
		conclude := o.concludeLocked(fmt.Errorf("%w: no answer from any server for the session timeout", session.ErrSessionLost), cause.TimedOut)
		o.mu.Unlock()
		conclude()
		return now
	}
	o.sendLocked(o.orphans.dueLocked(now)...)
	o.watching.askDueLocked(now)
	renew, next := o.validity.dueRenewalLocked(now)
	if renew {
		o.validity.renewLocked(now)
		next = o.validity.renewalLimitLocked()
	}
	silent := o.online && !renew && !o.validity.renewal.sent.IsZero() && !now.Before(o.validity.renewalLimitLocked())
	if silent {
		o.ring.GiveUp(now, o.validity.renewal.heard(&o.leases), o.server)
		o.validity.renewal.gaveUp(now)
	}
	if o.validity.term != nil {
		next = earliest(next, o.leases.validUntil())
	}
	next = earliest(earliest(next, o.removals.dueLocked(now)), o.watching.readLateLocked(now))
	next = earliest(earliest(next, o.orphans.nextLocked(now)), deadline)
	next = earliest(next, now.Add(cause.Look(o.leases.timeout))) // see there
	o.validity.planned = next
	o.mu.Unlock()
	if renew {
		o.validity.meter(now)
	}
	if silent {
		o.transport.Break(errNoRenewal)
	}
	return next
}

var errNoRenewal = errors.New("the server does not answer for its leader, or not at all")
