package shared

import (
	"context"
	"fmt"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/framework/session"
)

// follow watches the node through one session after the other, and calls listeners.
func (c *SharedCount) follow(ctx context.Context, done chan struct{}) {
	defer close(done)
	absolute, err := c.client.AbsolutePath(c.path)
	if err != nil {
		return // not possible: Start has used the path
	}
	for s, err := range c.client.SessionsWhileOpen(ctx, c.refuse) {
		if err != nil {
			c.refuse(err) // the client has ended; or Close was called, and Err says that
			return
		}
		c.followSession(ctx, s, absolute)
	}
}

func (c *SharedCount) followSession(ctx context.Context, s framework.Session, absolute string) {
	c.restart(s.EnsembleGeneration())
	watch := s.WatchDataPersistent(absolute, c.waiter.Signal)
	defer watch.Stop()
	for {
		c.look(watch)
		c.publish()
		if c.waiter.Wait(ctx, s, nil) != nil {
			return
		}
	}
}

// look takes what a watch on the node shows now. Looks do not overlap: an older one must not be taken after a newer.
func (c *SharedCount) look(watch session.Watch) framework.View {
	c.looking.Lock()
	defer c.looking.Unlock()
	view := watch.View()
	c.take(view)
	return view
}

// take notes what a watch on the node shows.
func (c *SharedCount) take(view framework.View) {
	switch view.Status {
	case framework.StatusFailed:
		c.refuse(fmt.Errorf("shared: count at %q: %w", c.path, view.Err))
	case framework.StatusGone:
		c.refuse(nil) // the last value stands until there is a new node
	case framework.StatusPresent:
		c.refuse(c.decode(view.Data, view.Stat)) // after the value: an old one must not pass for a followed one
	case framework.StatusUnknown:
	}
}

// Confirm blocks until Count is as new as all that the client has heard from the servers before the call. Without it,
// Count may be behind for a moment: after an outage until the node is read again, and after each change until the new
// value is read. It asks the server only if the node was deleted; otherwise the following does.
//
// Errors: that of Err, if the count is not followed; those of framework.Client.Session; those that end the session, as
// framework.ErrSessionLost; the end of ctx.
//
// Curator has none.
func (c *SharedCount) Confirm(ctx context.Context) error {
	if err := c.Err(); err != nil {
		return err
	}
	s, err := c.client.Session(ctx)
	if err != nil {
		return err
	}
	absolute, err := c.client.AbsolutePath(c.path)
	if err != nil {
		return err // not possible: Start has used the path
	}
	c.restart(s.EnsembleGeneration())
	waiter := session.NewWaiter()
	// One watch at the server serves this and the follower. If the node is gone, the newcomer asks again.
	watch := s.WatchDataPersistent(absolute, waiter.Signal)
	defer watch.Stop()
	for {
		view := c.look(watch)
		unfollowed := c.Unfollowed()
		if err := c.Err(); err != nil {
			return err
		}
		if view.Current || view.Status == framework.StatusGone {
			return nil
		}
		if err := waiter.Wait(ctx, s, unfollowed); err != nil {
			return err
		}
	}
}

// refuse notes why the node cannot be followed, or that it can.
func (c *SharedCount) refuse(err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.closed {
		return // Err says so
	}
	switch {
	case c.refused == nil && err != nil:
		close(c.unfollowed)
	case c.refused != nil && err == nil:
		c.unfollowed = make(chan struct{})
	}
	c.refused = err
	c.trouble.Note(c.client.Logger(), "shared: the count is not followed", c.path, err)
}

func (c *SharedCount) read(ctx context.Context) error {
	data, stat, err := c.client.Get(ctx, c.path)
	if err != nil {
		return err
	}
	return c.decode(data, stat)
}

// apply takes a value if it is newer than the one that is known: answers of different servers may come out of order.
func (c *SharedCount) apply(v VersionedValue) {
	c.mu.Lock()
	newer := v.Zxid > c.value.Zxid || c.restarted
	if newer {
		c.value, c.restarted = v, false
	}
	c.mu.Unlock()
	if newer {
		c.waiter.Signal()
	}
}

// restart notes how often the client has met a younger ensemble. Zxids of different ensembles cannot be compared: after
// each, the next value counts as newer.
func (c *SharedCount) restart(generation int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.restarted = c.restarted || generation > c.generation
	c.generation = max(c.generation, generation)
}
