package locks

import (
	"context"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/recipes/internal/queue"
)

// A try of a semaphore passes the same gate as an acquire. Contenders that are about to get their leases stand there for a moment,
// and so do those that have got them, since they leave the gate in the background. They are no reason for a try to fail. A
// contender that waits for leases is: it holds the gate as well, but it has made the node of the lease for which it waits, so
// that the nodes are more than the limit. Hence a try waits at the gate as long as the nodes of leases leave room for its own.

// passGate waits until gate is the first in its queue. It returns ErrNotAcquired when fewer than n leases are free meanwhile.
func (s *InterProcessSemaphoreV2) passGate(ctx context.Context, gate *queue.Contender, n int) error {
	t, err := gate.Decide(ctx)
	if err != nil || t.Admitted {
		return err
	}
	v := newLeaseView(gate, s.recipe.queue.Config.Dir)
	defer v.close()
	gate.GiveUp = func() bool { return s.leases(v.children())+n > s.limit.now() }
	for !t.Admitted {
		if t, err = gate.Await(ctx, t); err != nil {
			return err
		}
	}
	return nil
}

// A leaseView watches the directory of a semaphore's leases, which need not be there, for a contender at the gate.
type leaseView struct {
	gate   *queue.Contender
	dir    string
	exists *framework.Watch // on the directory itself
	leases *framework.Watch // on its children
}

func newLeaseView(gate *queue.Contender, dir string) *leaseView {
	return &leaseView{
		gate: gate, dir: dir,
		exists: gate.Session.WatchDataPersistent(dir, gate.Signal), leases: gate.Session.WatchChildren(dir, gate.Signal),
	}
}

// children returns the newest known names in the directory. A watch that has seen the directory gone stays with that, and is
// replaced when the directory is there again.
func (v *leaseView) children() []string {
	session := v.gate.Session
	view := session.View(v.leases)
	if view.Status == framework.StatusGone && session.View(v.exists).Status == framework.StatusPresent {
		session.Unwatch(v.leases)
		v.leases = session.WatchChildren(v.dir, v.gate.Signal)
		view = session.View(v.leases)
	}
	return view.Children
}

func (v *leaseView) close() {
	v.gate.Session.Unwatch(v.leases)
	v.gate.Session.Unwatch(v.exists)
}
