package framework

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/gocurator/curator/framework/internal/live"
	"github.com/gocurator/curator/retry"
)

// noLimit lets attachedSession wait until ctx ends.
const noLimit time.Duration = -1

// attachedSession blocks until the session is connected, for limit at most. Mostly it is, and no timer is made.
func (c *core) attachedSession(ctx context.Context, limit time.Duration) (*live.Session, error) {
	var timeout <-chan time.Time
	stop := func() bool { return false }
	defer func() { stop() }()
	for {
		c.mu.Lock()
		s, state, refused, closed, changed := c.session.Session(), c.change.State, c.refused, c.closed, c.changed
		c.mu.Unlock()
		// One look at ctx: if it ended between two, the error would deny the connection.
		ended := ctx.Err() != nil
		// Both: the caller finds the state announced.
		connected := state.IsConnected() && s.Connected()
		switch {
		case closed:
			return nil, ErrClosed
		case ended && connected:
			return nil, retry.ContextError(ctx)
		case ended:
			return nil, c.connectError(retry.ContextError(ctx))
		case refused != nil:
			return nil, refused
		case connected:
			return s, nil
		}
		if timeout == nil && limit != noLimit {
			timer := time.NewTimer(limit)
			timeout, stop = timer.C, timer.Stop
		}
		select {
		case <-changed:
		case <-ctx.Done():
		case <-timeout:
			if err := c.noChroot(); err != nil {
				return nil, err
			}
			return nil, c.connectError(fmt.Errorf("%w of %v", errConnectionTimeout, c.cfg.connectionTimeout))
		}
	}
}

// noChroot is the error if servers say that the chroot does not exist: that does not go away by itself, so it is no
// *ConnectError, which waiters would wait out. The client goes on trying.
func (c *core) noChroot() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	for server, err := range c.failures {
		if errors.Is(err, ErrNoChroot) {
			return fmt.Errorf("framework: not connected to %s: %w", server, err)
		}
	}
	return nil
}

func (c *core) connectError(cause error) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	list, problem := c.servers.last()
	servers := make(map[string]error, len(list)+1)
	for _, server := range list { // others are not tried again
		if servers[server] = c.failures[server]; servers[server] == nil {
			servers[server] = errors.New("no answer yet")
		}
	}
	if problem != nil {
		servers[theList] = problem
	}
	return &ConnectError{Servers: servers, Cause: cause}
}
