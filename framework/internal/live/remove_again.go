package live

import (
	"errors"
	"time"

	"github.com/go-zookeeper/zk"
)

// A refusedRemoval is a node of the session that a server refuses to remove, for its ACL mostly. No event reports a
// change, so the session asks again, after pauses that double from T/16 to T, until the node is gone or the session is
// over.
type refusedRemoval struct {
	carry bool          // goes on in the next session
	own   bool          // see removeOwn
	pause time.Duration // before the next request
	due   time.Time
}

// again reports whether a removal of path that was refused is asked for again. A node that outlives sessions and has no
// GUID is the user's, who may have made another one at the path since.
func (r *removal) again(path string, err error) bool {
	_, name := split(path)
	return (!r.carry || guidOf(name) != "") && (errors.Is(err, zk.ErrNoAuth) || disconnects(err))
}

// noteRefusalLocked plans the next request for a removal that was refused, and reports whether it is the first refusal.
func (all *removals) noteRefusalLocked(path string, r *removal) (first bool) {
	refused := all.refusals[path]
	if first = refused == nil; first {
		refused = &refusedRemoval{carry: r.carry, own: r.own, pause: all.leases.timeout / 16}
		all.refusals[path] = refused
	}
	// Less a sixteenth, since onGrid moves it to the next: the longest pause is T, not 17/16 T.
	refused.due = onGrid(all.opened, all.clock.Now().Add(refused.pause-all.leases.timeout/16+1), all.leases.timeout)
	refused.pause = min(2*refused.pause, all.leases.timeout)
	all.wakeClock()
	return first
}

// dueLocked asks for the removals that are due, and returns when the next is.
func (all *removals) dueLocked(now time.Time) (next time.Time) {
	next = now.Add(time.Hour)
	if !all.online {
		return next
	}
	for path, refused := range all.refusals {
		switch {
		case all.pending[path] != nil: // on its way
		case refused.due.After(now):
			next = earliest(next, refused.due)
		default:
			all.beginLocked(path, removal{carry: refused.carry, own: refused.own})
		}
	}
	return next
}
