package locks

import (
	"context"
	"slices"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/framework/session"
	"github.com/gocurator/curator/recipes/internal/queue"
)

// A batch is the leases of one acquire that holds the gate. Each is a contender, whose node is made when the one before
// it is permitted. Others count them, but wait at the gate.
type batch struct {
	semaphore *InterProcessSemaphoreV2
	session   framework.Session
	gate      *queue.Contender
	members   []*queue.Contender
	listing   []string      // came with the newest member; nil once used
	watch     session.Watch // on the leases, from the first wait on
	stop      func()        // ends listening to the limit
	admitted  bool

	// As permitted has found last.
	ahead    int  // leases too many
	ownHolds bool // this client has all of them
}

func (b *batch) add(ctx context.Context) error {
	c, listing, err := b.semaphore.recipe.queue.CreateNode(ctx, b.session, b.gate.Waiter) // all wake one goroutine
	if err != nil {
		return err
	}
	if b.watch != nil {
		c.WatchOwn()
	}
	b.members = append(b.members, c)
	b.listing = listing
	return nil
}

func (b *batch) wait(ctx context.Context) error {
	for {
		permitted, err := b.permitted(ctx)
		if err != nil || permitted {
			return err
		}
		if err := b.await(ctx); err != nil {
			return err
		}
	}
}

// permitted decides by a listing later than the batch's nodes: the newest member's, the watch's, or a new one. A node
// that it lacks was removed by hand. A limit that is not followed ends the acquire, which would not hear of a raise and
// block the gate.
func (b *batch) permitted(ctx context.Context) (bool, error) {
	children := b.listing
	b.listing = nil
	if children == nil && b.watch != nil {
		// The watch may be shared, and older than the nodes.
		if view := b.watch.View(); view.Status == framework.StatusPresent && b.within(view.Children) {
			children = view.Children
		}
	}
	if children == nil {
		var err error
		if children, err = b.semaphore.recipe.queue.List(ctx, b.session); err != nil {
			return false, err
		}
	}
	if !b.within(children) {
		return false, session.ErrNodeDeleted
	}
	limit := b.semaphore.limit
	if err := limit.confirm(ctx); err != nil {
		return false, err
	}
	over := b.semaphore.leases(children) - limit.now()
	b.ahead, b.ownHolds = max(0, over), over > 0 && b.ownLeases(children)
	return over <= 0, nil
}

// ownLeases reports whether this client holds all other leases in a listing.
func (b *batch) ownLeases(children []string) bool {
	ours := b.semaphore.recipe.queue.Registry.GrantNames(b.semaphore.recipe.id)
	for _, c := range b.members {
		ours[c.Me.Name] = true
	}
	return !slices.ContainsFunc(b.semaphore.recipe.queue.Markers.ParseAll(children), func(n queue.Node) bool { return !ours[n.Name] })
}

func (b *batch) within(children []string) bool {
	return !slices.ContainsFunc(b.members, func(c *queue.Contender) bool { return !slices.Contains(children, c.Me.Name) })
}

// await blocks until the leases or the limit have changed. If a node of the batch or its gate was removed, the batch
// begins again, since another contender may be at the gate.
func (b *batch) await(ctx context.Context) error {
	if b.watch == nil {
		b.startWatching(ctx)
		if b.watch.View().Status == framework.StatusPresent {
			return nil
		}
	}
	for {
		if err := b.gate.Waiter.Wait(ctx, b.session, b.semaphore.limit.lost()); err != nil {
			return err
		}
		if err := b.semaphore.limit.unknown(); err != nil {
			return err
		}
		b.gate.ReportLongWait(ctx, b.waiting())
		if b.gate.Removed() || slices.ContainsFunc(b.members, (*queue.Contender).Removed) {
			return session.ErrNodeDeleted
		}
		switch view := b.watch.View(); view.Status {
		case framework.StatusPresent:
			return nil
		case framework.StatusGone:
			return session.ErrNodeDeleted
		case framework.StatusFailed:
			return view.Err
		case framework.StatusUnknown:
		}
	}
}

func (b *batch) startWatching(ctx context.Context) {
	q := b.semaphore.recipe.queue
	b.gate.StartWaiting()
	for _, c := range b.members {
		c.WatchOwn()
	}
	b.watch = b.session.WatchChildren(q.Config.Dir, b.gate.Waiter.Signal)
	b.stop = b.semaphore.recipe.onLimit(b.gate.Waiter.Signal)
	q.ReportWait(ctx, b.waiting())
}

// progress is that of the first at the gate, which has no predecessor.
func (b *batch) progress() queue.Progress {
	at := b.gate.Progress
	at.Ahead, at.OwnHolds = b.ahead, b.ownHolds
	return at
}

// waiting is the progress of the newest member, which waits for leases.
func (b *batch) waiting() queue.Progress {
	at := b.progress()
	at.Node = b.members[len(b.members)-1].Me.Name
	return at
}

// admit makes grants of all members, or of none. If the session was not valid just now, it calls again, which decides
// once more.
func (b *batch) admit(ctx context.Context, again func(context.Context) error) ([]*queue.Grant, error) {
	grants := make([]*queue.Grant, 0, len(b.members))
	for _, c := range b.members {
		for {
			if err := c.Admit(); err != nil {
				return nil, err
			}
			if c.Grant != nil {
				break
			}
			// By a new listing, which waits until the session is valid; the watch's does not.
			var err error
			if b.listing, err = b.semaphore.recipe.queue.List(ctx, b.session); err != nil {
				return nil, err
			}
			if err := again(ctx); err != nil {
				return nil, err
			}
		}
		grants = append(grants, c.Grant)
	}
	b.admitted = true
	return grants, nil
}

func (b *batch) leave() {
	if b.watch != nil {
		b.watch.Stop()
	}
	if b.stop != nil {
		b.stop()
	}
	if b.admitted {
		return
	}
	for _, c := range b.members {
		if c.Grant != nil {
			c.Grant.Drop()
		}
		c.Leave()
	}
}
