package live

import (
	"time"

	"github.com/gocurator/curator/framework/internal/transport"
)

// A renewal is the request that keeps leases valid while its answer is on its way, and what became of those before. It
// decides by times alone.
type renewal struct {
	sent     time.Time // zero without a request, or without a connection
	repeated time.Time // when another was sent, since that one was too early, or zero; valid only if sent is not zero
	reach    transport.Reach
	arrivals uint64 // at the transport when it was sent
	pinged   bool   // a ping went ahead
	lost     int    // connections in a row that were given up for a renewal
}

// mostLost keeps patience from an overflow.
const mostLost = 10

// patience is how long a renewal may take. A server that does not even answer a ping is left after an eighth of the
// timeout, while most of the lease remains to find another. If something has arrived since, the leader may be missing,
// or its disks slow. Without a ping, which would have waited behind a write, the write may be slow. The connection then
// gets a third, as it does after one that was given up, because the silence may be this client's own link. After two
// connections in a row that were given up, leases are about to end in any case, and each further one gets twice as long
// as the one before, or no contender would get in where a majority needs longer than a third.
func patience(timeout time.Duration, pinged, heard bool, lost int) time.Duration {
	switch {
	case lost > 1:
		return timeout / 3 << (lost - 1)
	case !pinged || heard || lost == 1:
		return timeout / 3
	default:
		return timeout / 8
	}
}

// limit is when an unanswered renewal ends the connection. arrivals is the transport's number now.
func (r *renewal) limit(timeout time.Duration, arrivals uint64) time.Time {
	return r.sent.Add(patience(timeout, r.pinged, arrivals != r.arrivals, r.lost))
}

// heard returns when the server last answered anything but the pending renewal, or zero: a request that was sent with
// the renewal or later, such as the ping that goes ahead, or so long after the renewal was sent that the answer was not
// on its way then. Watch events do not count, because a server that does not hear this client sends those.
func (r *renewal) heard(leases *leaseClock) time.Time {
	if r.sent.IsZero() || leases.last.Before(r.sent) && leases.came.Sub(r.sent) < leases.timeout/64 {
		return time.Time{}
	}
	return leases.came
}

// underWay reports whether a request is under way that reaches far enough.
func (r *renewal) underWay(reach transport.Reach) bool { return !r.sent.IsZero() && r.reach >= reach }

// begin notes a request of now. pinged says that a ping goes ahead. One under way keeps its limit.
func (r *renewal) begin(now time.Time, reach transport.Reach, arrivals uint64, pinged bool) {
	r.sent, r.reach, r.repeated, r.arrivals, r.pinged = now, reach, time.Time{}, arrivals, pinged
}

// answered notes an answer, and reports whether it is one to the renewal: an answer to an earlier request proves less.
// The next renewal may take no longer than it needs to.
func (r *renewal) answered(sent, received time.Time, reach transport.Reach, timeout time.Duration) bool {
	if r.sent.IsZero() || reach < r.reach || sent.Before(r.sent) {
		return false
	}
	for r.lost > 0 && received.Sub(sent) < patience(timeout, true, false, r.lost-1) {
		r.lost--
	}
	r.sent, r.repeated = r.repeated, time.Time{}
	if !sent.Before(r.sent) {
		r.sent = time.Time{}
	}
	r.pinged = false
	return true
}

// gaveUp gives the next connection a new chance after one that was left for the renewal.
func (r *renewal) gaveUp(now time.Time) {
	r.sent, r.repeated = now, time.Time{}
	r.lost = min(r.lost+1, mostLost)
}

// due says whether to ask the leader, or a majority, now, and when to look again. A request under way that reaches far
// enough will do, unless it was sent too early for what has been heard meanwhile.
func (r *renewal) due(now time.Time, reach transport.Reach, leases *leaseClock, arrivals uint64) (due bool, next time.Time) {
	if r.underWay(reach) {
		limit := r.limit(leases.timeout, arrivals)
		early, ok := leases.earlyRenewal(reach)
		if !ok || !early.Before(limit) || !latest(r.sent, r.repeated).Before(early) {
			return false, limit
		}
		return !now.Before(early) && now.Before(limit), early
	}
	at := leases.renewal(reach)
	if now.Before(at) {
		return false, at
	}
	return true, now
}

// needsLocked says who must answer, four times in a session timeout. Bindings and contenders need what renews leases.
// Watches need a server that is connected with its leader: another hears of no change.
func (v *validity) needsLocked() transport.Reach {
	switch {
	case v.kept > 0 || v.term != nil && len(v.term.bindings) > 0:
		return v.leases.proof()
	case v.watchesLocked():
		return transport.ReachLeader
	default:
		return transport.ReachServer
	}
}

// dueRenewalLocked says whether to renew now, and when to look again. With nothing held or watched there is nothing to
// renew.
func (v *validity) dueRenewalLocked(now time.Time) (due bool, next time.Time) {
	reach := v.needsLocked()
	if !v.online || v.over != nil || reach == transport.ReachServer {
		return false, now.Add(v.leases.timeout)
	}
	return v.renewal.due(now, reach, &v.leases, v.transport.Arrivals())
}

// needsWakeLocked reports whether something is due before the clock looks again.
func (v *validity) needsWakeLocked(now time.Time) bool {
	renew, next := v.dueRenewalLocked(now)
	return renew || next.Before(v.planned) || v.term != nil && v.leases.validUntil().Before(v.planned)
}

// wakeIfDueLocked wakes the clock if something is due before it looks again.
func (v *validity) wakeIfDueLocked(now time.Time) {
	if v.needsWakeLocked(now) {
		v.wakeClock()
	}
}

// renewLocked asks for what renews leases.
func (v *validity) renewLocked(now time.Time) {
	reach := v.needsLocked()
	if v.renewal.underWay(reach) {
		v.renewal.repeated = now
		v.sendLocked(v.renewalCall(reach))
		return
	}
	v.ring.Renew(now, v.planned, v.server)
	// A ping goes ahead: behind a renewal, or any write, its answer would come no earlier.
	pinged := v.transport.Quiet()
	v.renewal.begin(now, reach, v.transport.Arrivals(), pinged)
	if pinged {
		v.sendLocked(transport.Ping(func(error) {}))
	}
	v.sendLocked(v.renewalCall(reach))
}

// renewalCall is a request that only the leader can answer, or only a majority, which writes down even a transaction
// that changes nothing.
func (v *validity) renewalCall(reach transport.Reach) *transport.Call {
	if reach == transport.ReachMajority {
		return v.fence(func(error) {})
	}
	return transport.Sync("/", func(error) {})
}

// renewalLimitLocked is when an unanswered renewal ends the connection.
func (v *validity) renewalLimitLocked() time.Time {
	return v.renewal.limit(v.leases.timeout, v.transport.Arrivals())
}
