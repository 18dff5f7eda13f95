package shared

import (
	"context"
	"errors"
	"fmt"

	"github.com/gocurator/curator/framework"
)

// follow watches the node through one session after the other, and tells listeners.
func (c *SharedCount) follow(ctx context.Context, done chan struct{}) {
	defer close(done)
	absolute, err := c.client.AbsolutePath(c.path)
	if err != nil {
		return // not possible: Start has used the path
	}
	for ctx.Err() == nil {
		session, err := c.client.Session(ctx)
		var unreachable *framework.ConnectError
		switch {
		case err == nil:
			c.followSession(ctx, session, absolute)
		case !errors.As(err, &unreachable):
			c.refuse(err) // the client is closed, or will never be let in
			return
		}
	}
}

func (c *SharedCount) followSession(ctx context.Context, session *framework.Session, absolute string) {
	c.restart(session.Restarts())
	watch := session.WatchDataPersistent(absolute, c.signal)
	defer session.Unwatch(watch)
	for {
		switch view := session.View(watch); view.Status {
		case framework.StatusRefused:
			c.refuse(fmt.Errorf("shared: count at %q: %w", c.path, view.Err))
		case framework.StatusPresent:
			c.refuse(nil)
			if value, err := decode(view.Data); err == nil {
				c.apply(VersionedValue{Zxid: view.Stat.Mzxid, Version: view.Stat.Version, Value: value})
			}
		}
		c.tell()
		select {
		case <-c.wake:
		case <-session.Done():
			return
		case <-ctx.Done():
			return
		}
	}
}

// refuse notes why the node cannot be followed, or that it can.
func (c *SharedCount) refuse(err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.refused = err
}

func (c *SharedCount) read(ctx context.Context) error {
	data, stat, err := c.client.Get(ctx, c.path)
	if err != nil {
		return err
	}
	value, err := decode(data)
	if err != nil {
		return fmt.Errorf("%w: %q has %d bytes", err, c.path, len(data))
	}
	c.apply(VersionedValue{Zxid: stat.Mzxid, Version: stat.Version, Value: value})
	return nil
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
		c.signal()
	}
}

// restart notes how often the client has met a younger ensemble. Zxids of different ensembles cannot be compared: after
// each, the next value counts as newer.
func (c *SharedCount) restart(restarts int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.restarted = c.restarted || restarts > c.restarts
	c.restarts = max(c.restarts, restarts)
}

func (c *SharedCount) signal() {
	select {
	case c.wake <- struct{}{}:
	default:
	}
}
