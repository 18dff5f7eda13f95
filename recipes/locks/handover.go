package locks

import (
	"fmt"
	"time"

	"github.com/gocurator/curator/framework"
)

// maxLocalTime is how long a node can be handed over after its admission.
const maxLocalTime = 100 * time.Millisecond

// WithLocalHandover lets the contenders of one client hand a lock over among themselves: a release gives the lock, with its node, to
// the next goroutine that waits for it here. That takes microseconds, and no request.
//
// It is done at most that many times in a row, and not when the node was admitted 100 ms ago or more. Then the node is removed,
// ZooKeeper's queue goes on, and the next one that waits here enters it at the tail. So whoever waits in another process waits for
// at most that time and one hold, instead of one hold. Clients take turns then, and not contenders: all that wait in a client have
// one place in the queue.
//
// It pays where many goroutines want the same lock for moments. It costs where holds last longer than 100 ms: they are never
// followed by a hand-over, and the next one comes a round trip later than without the option, since nobody of the same client stands
// in ZooKeeper's queue meanwhile.
//
// Locks of one client and path share a line if they have the same number, lock data and extra markers; those without the option
// contend beside it. Whoever waits in a line has no node, and is no [Participant]; but for its front, and if that one gives up, the
// next takes over its place in ZooKeeper's queue. Whoever is given a lock that is lost before he could look at it begins again at
// the end of the line.
//
// Holds that share a node have the same [Lease.FencingToken]; [Lease.LocalCount] tells which is the later one. A store that compares
// tokens alone does not tell them apart: it must take the pair, or the lock must not have this option.
//
// There is no hand-over after a loss; nor after a request to leave, see [Lease.RevocationRequested]; nor of a write lock within which
// the read lock was taken. Readers are as they are without the option. Semaphores refuse it.
//
// The number must be positive. The default is no hand-over: first come, first served, in all processes together.
func WithLocalHandover(most int) Option {
	return func(o *options) {
		if most < 1 {
			o.problems = append(o.problems, fmt.Errorf("the number of local hand-overs must be positive, is %d", most))
		}
		o.handovers = most
	}
}

// handsOver reports whether contenders of the queue go by way of a local line. Readers do not stand in each other's way.
func (q *queue) handsOver() bool { return q.opts.handovers > 0 && !q.shared }

func (q *queue) localKey() localKey {
	return localKey{id: q.id, most: q.opts.handovers, settings: q.opts.settings}
}

// handOver gives the node of a grant that its last lease has left to the next waiter of its line, as a grant of its own. If it does
// not, the caller must withdraw the grant, which passes the line on.
//
// From the moment at which the last lease left, the old grant is over: nobody can re-enter it, and neither the end of the session
// nor that of the node ends it once more. So the node has one owner at any time. If the session lapses before the new grant is
// published, there is no new grant, and the caller removes the node; if it lapses after that, the new grant is lost, and does.
func (g *grant) handOver() bool {
	line := g.frontOf()
	if line == nil || !g.mayHandOver(line.key.most) {
		return false
	}
	w := line.next()
	if w == nil {
		return false
	}
	q := w.queue
	next, err := newGrant(&grant{
		id: g.id, path: q.path, node: g.node, name: g.name, token: g.token, admitted: g.admitted, count: g.count + 1, local: line,
		session: g.session, client: q.client, trace: &q.opts.trace,
	})
	if err != nil {
		line.putBack(w)
		return false
	}
	next.watch()
	g.detach() // after that: the two share one watch at the server, and what it has told
	w.turn <- baton{grant: next}
	return true
}

// mayHandOver reports whether the node may have another holder.
func (g *grant) mayHandOver(most int) bool {
	if g.count >= int64(most) || time.Since(g.admitted) >= maxLocalTime || g.nested.Load() {
		return false
	}
	// What the table says: the call that ends a grant may be on its way. One that tells of a request may be, too; then the next holder
	// is told instead.
	if g.session.View(g.own.Load()).Status == framework.StatusGone {
		return false
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	return !g.asked
}

func (g *grant) frontOf() *localLine {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.local
}
