package run

import (
	"fmt"
	"time"
)

// A plan says how long before the end of a lease its command has to go.
//
//	valid−grace−margin   TERM, while the lease is valid
//	valid−margin         KILL
//	valid                all processes are gone; the servers give the lock to another contender later than this
//
// In health the library moves valid on every quarter of the session timeout T, so that it is between T/2 and 3T/4
// ahead. A command therefore survives an outage of T/2−grace−margin without a TERM. newPlan keeps that above T/4.
type plan struct {
	grace  time.Duration // from TERM to KILL
	margin time.Duration // from KILL to the end of the lease, for a machine that is slow to end processes
}

const (
	mostGrace  = 10 * time.Second
	mostMargin = time.Second
)

// newPlan returns the plan for a session timeout. A negative grace or margin means the default: T/8 and at most 10 s;
// T/16 and at most 1 s.
func newPlan(timeout, grace, margin time.Duration) (plan, error) {
	if grace < 0 {
		grace = min(timeout/8, mostGrace)
	}
	if margin < 0 {
		margin = min(timeout/16, mostMargin)
	}
	if grace+margin > timeout/4 {
		return plan{}, fmt.Errorf("-grace %v and -margin %v are %v together, and a quarter of the session timeout of %v is %v: "+
			"a short outage would end the command; choose less, or a longer -session (the servers grant no more than they allow)",
			grace, margin, grace+margin, timeout, timeout/4)
	}
	return plan{grace, margin}, nil
}

// room is for how long a lease has to be valid so that its command is not ended by a renewal that comes in time: one is
// due within a quarter of the session timeout.
func (p plan) room(timeout time.Duration) time.Duration { return p.grace + p.margin + timeout/4 }

// A situation is what decides the next step. Times are of the clock of now().
type situation struct {
	now     time.Duration
	valid   time.Duration // the end of the lease, as far as is known
	warned  bool          // the command got TERM for this value of valid
	stopped time.Duration // when zklock itself was asked to end, and passed TERM on; 0 if it was not
	over    bool          // the lease has ended already, or no front extends it any more
}

type step int

const (
	rest step = iota // nothing to do
	warn             // TERM to the command
	kill             // KILL to all of it
)

// next returns what is due, and after how long to look again. The second is never longer than half a margin: timers
// stand still while the machine is suspended, and the clock does not.
func (p plan) next(s situation) (step, time.Duration) {
	soon := max(p.margin/2, time.Millisecond)
	killAt := s.valid - p.margin
	if s.stopped != 0 {
		killAt = min(killAt, s.stopped+p.grace)
	}
	warnAt := s.valid - p.margin - p.grace
	switch {
	case s.over || s.now >= killAt:
		return kill, soon
	case !s.warned && s.now >= warnAt:
		return warn, min(soon, killAt-s.now)
	case !s.warned:
		return rest, min(soon, warnAt-s.now, killAt-s.now)
	default:
		return rest, min(soon, killAt-s.now)
	}
}

// due returns when the next step has to be done.
func (p plan) due(s situation) time.Duration {
	at := s.valid - p.margin
	if !s.warned {
		at -= p.grace
	}
	if s.stopped != 0 {
		at = min(at, s.stopped+p.grace)
	}
	if s.over {
		at = min(at, s.now)
	}
	return at
}

// wake returns when a process that is stopped has to go on, if it has something to do at due. For as long as it looks
// more often than that, the time does not come.
func (p plan) wake(due, now time.Duration) time.Duration {
	return max(due, now+max(p.margin, 2*time.Millisecond))
}

// overdue reports whether the keeper should have ended everything by now. It leaves the keeper half of the margin.
func (p plan) overdue(now, valid time.Duration) bool { return now >= valid-p.margin/2 }
