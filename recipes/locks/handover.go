package locks

import (
	"fmt"
	"time"

	"github.com/gocurator/curator/recipes/internal/queue"
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
// the read lock was taken; nor of a hold in which a [Lease.Check] was taken, which must fail after the hold. Readers are as they are without the option. Semaphores refuse it.
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

// handsOver reports whether contenders go by way of a local line. Readers do not stand in each other's way.
func (r *recipe) handsOver() bool { return r.opts.handovers > 0 && !r.queue.Shared }

func (r *recipe) localKey() localKey {
	return localKey{id: r.id, most: r.opts.handovers, settings: r.opts.settings}
}

// handOver gives the node of a grant that its last lease has left to the next waiter of its line, as a grant of its own. If it does
// not, the caller must remove the node, which passes the line on.
func handOver(g *queue.Grant) bool {
	line, _ := g.KeptBy().(*localLine)
	if line == nil || g.Count >= int64(line.key.most) || g.KeptFor() >= maxLocalTime || !g.MayBeKept() {
		return false
	}
	w := line.next()
	if w == nil {
		return false
	}
	next, err := g.Succeed(w.recipe.queue)
	if err != nil {
		line.putBack(w)
		return false
	}
	w.turn <- baton{grant: next}
	return true
}
