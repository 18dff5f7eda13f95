package locks

import (
	"context"
	"slices"

	"github.com/gocurator/curator/framework"
)

// A batch is the leases that one acquire of a semaphore asks for, while it holds the gate: each is a contender whose node is made
// when the one before it is permitted. Nobody else waits for leases meanwhile, but others count them.
type batch struct {
	semaphore *InterProcessSemaphoreV2
	session   *framework.Session
	gate      *contender
	members   []*contender
	listing   []string         // came with the newest member; nil once it has been used
	watch     *framework.Watch // on the leases, from the first wait on
	stop      func()           // ends listening to the limit
	admitted  bool
}

// enter makes the node of a further lease.
func (b *batch) enter(ctx context.Context) error {
	q := &b.semaphore.recipe.queue
	entry, err := b.session.Enter(ctx, q.dir, q.marker, q.opts.data)
	if err != nil {
		return err
	}
	c := q.contender(b.session, entry.Path, entry.Stat.Czxid)
	c.wake = b.gate.wake // whatever happens to any of them wakes the one who waits
	if b.watch != nil {
		c.watchOwn()
	}
	b.members = append(b.members, c)
	b.listing = entry.Children
	return nil
}

// wait blocks until there are no more leases than the limit, those of the batch included.
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

// permitted decides by a listing that is later than the nodes of the batch: the one that came with the newest, what the watch
// has told, or one that is asked for. A listing that lacks one of them means that somebody removed it.
func (b *batch) permitted(ctx context.Context) (bool, error) {
	children := b.listing
	b.listing = nil
	if children == nil && b.watch != nil {
		// The watch may be shared, and older than the nodes.
		if view := b.session.View(b.watch); view.Status == framework.StatusPresent && b.within(view.Children) {
			children = view.Children
		}
	}
	if children == nil {
		var err error
		if children, err = b.semaphore.recipe.queue.list(ctx, b.session); err != nil {
			return false, err
		}
	}
	if !b.within(children) {
		return false, errRequeue
	}
	over := leases(children) - b.semaphore.limit.now()
	b.gate.place.behind = max(0, over)
	return over <= 0, nil
}

func (b *batch) within(children []string) bool {
	return !slices.ContainsFunc(b.members, func(c *contender) bool { return !slices.Contains(children, c.me.name) })
}

// await blocks until something has changed: the leases, the limit, or one of the nodes of the batch or its gate. If one of those
// was removed, everything is dropped and begun again: without the gate, two contenders could each have a part of what they
// need, and wait for each other.
func (b *batch) await(ctx context.Context) error {
	if b.watch == nil {
		b.startWatching(ctx)
		if b.session.View(b.watch).Status == framework.StatusPresent {
			return nil
		}
	}
	for {
		select {
		case <-b.gate.wake:
		case <-b.session.Done():
			return b.session.Err()
		case <-ctx.Done():
			return context.Cause(ctx)
		}
		if b.gate.removed() || slices.ContainsFunc(b.members, (*contender).removed) {
			return errRequeue
		}
		switch view := b.session.View(b.watch); view.Status {
		case framework.StatusPresent:
			return nil
		case framework.StatusGone:
			return errRequeue
		case framework.StatusRefused:
			return view.Err
		case framework.StatusUnknown:
		}
	}
}

func (b *batch) startWatching(ctx context.Context) {
	q := &b.semaphore.recipe.queue
	b.gate.watchOwn()
	for _, c := range b.members {
		c.watchOwn()
	}
	b.watch = b.session.WatchChildren(q.dir, b.gate.signal)
	if count := b.semaphore.limit.count; count != nil {
		b.stop = count.OnChange(func(int32) { b.gate.signal() })
	}
	q.opts.trace.waiting(ctx, Waiting{Path: q.path, Node: b.members[len(b.members)-1].me.name, Behind: b.gate.place.behind})
}

// admit makes grants of all members, or of none. again decides anew, if the session was not valid just now.
func (b *batch) admit(ctx context.Context, again func(context.Context) error) ([]*grant, error) {
	grants := make([]*grant, 0, len(b.members))
	for _, c := range b.members {
		for {
			if err := c.admit(); err != nil {
				return nil, err
			}
			if c.grant != nil {
				break
			}
			// By a new listing, which waits until the session is valid. What the watch has told does not.
			var err error
			if b.listing, err = b.semaphore.recipe.queue.list(ctx, b.session); err != nil {
				return nil, err
			}
			if err := again(ctx); err != nil {
				return nil, err
			}
		}
		grants = append(grants, c.grant)
	}
	b.admitted = true
	return grants, nil
}

// leave ends the watching, and removes the nodes unless all were admitted.
func (b *batch) leave() {
	if b.watch != nil {
		b.session.Unwatch(b.watch)
	}
	if b.stop != nil {
		b.stop()
	}
	if b.admitted {
		return
	}
	for _, c := range b.members {
		if c.grant != nil {
			c.grant.drop()
		}
		c.leave()
	}
}
