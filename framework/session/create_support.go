package session

import (
	"context"
	"errors"
	"fmt"

	"github.com/go-zookeeper/zk"

	"github.com/gocurator/curator/framework/internal/transport"
)

// createCall makes the request that creates a node. At servers without create2 the Stat is nil, and has still to be
// asked for.
func (s *Session) createCall(c *Creation, done func(path string, stat *zk.Stat, err error)) *transport.Call {
	simple := c.Mode <= EphemeralSequential
	switch {
	case c.guard != "":
		return createGuarded(c, done)
	case !simple:
		return transport.Create(c.path(), c.Data, c.ACL, int32(c.Mode), c.TTL, done)
	case s.support.Lacks(transport.FeatureCreate2):
		return transport.CreateBare(c.path(), c.Data, c.ACL, int32(c.Mode), done)
	}
	return transport.Create(c.path(), c.Data, c.ACL, int32(c.Mode), c.TTL, func(path string, stat *zk.Stat, err error) {
		// the next connection does without create2: a server that lacks it closes this one
		if errors.Is(err, ErrUnsupported) {
			err = fmt.Errorf("%w: %w", ErrConnectionLost, err)
		}
		done(path, stat, err)
	})
}

// withStat asks for the Stat of a node that was created without. If the connection breaks, that is as if the create's
// answer were lost: the node is found by its GUID. If the node was removed, the error is zk.ErrNoNode.
func (s *Session) withStat(ctx context.Context, c *Creation, entry Entry) (Entry, error) {
	stat, err := s.Exists(ctx, entry.Path)
	switch {
	case err == nil && stat == nil:
		return Entry{}, errShortLived
	case err == nil:
		entry.Stat = stat
		return entry, nil
	case !Retryable(err):
		s.remove(entry.Path, !c.ephemeral())
	}
	return Entry{}, s.orBroken(err)
}

// errShortLived says that a node that was created without its Stat is gone.
var errShortLived = fmt.Errorf("%w: it was created, and removed before its Stat was read", zk.ErrNoNode)

// beSure has the server answer something, anything, before a request on which connections have ended: if this one ends
// as well, the request is the reason.
func (s *Session) beSure(ctx context.Context, c *transport.Call) error {
	if !s.support.Doubts(c) {
		return nil
	}
	err := s.call(ctx, func(finish func(error)) []*transport.Call { return one(transport.Sync("/", finish)) })
	if Definite(err) {
		return nil
	}
	return err
}

// sureFirst is beSure without waiting: once the server has answered something, the requests of next are sent, which is
// called with mu held. If the connection ends first, the next one asks again.
func (s *Session) sureFirst(next func() []*transport.Call) *transport.Call {
	return transport.Sync("/", func(err error) {
		if !passing(err) && s.unanswered(err) {
			return
		}
		s.mu.Lock()
		defer s.mu.Unlock()
		s.send(next()...)
	})
}
