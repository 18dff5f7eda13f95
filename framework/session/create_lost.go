package session

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/go-zookeeper/zk"

	"github.com/gocurator/curator/framework/internal/transport"
)

// find looks for the node of a create whose answer was lost. It removes a node of another session, which would vanish
// with that.
func (s *Session) find(ctx context.Context, c *Creation) (Entry, error) {
	children, err := s.listAfterAll(ctx, c.Dir)
	if errors.Is(err, zk.ErrNoNode) {
		return Entry{}, nil
	}
	if err != nil {
		return Entry{}, err
	}
	for _, name := range children {
		if !strings.HasPrefix(name, c.Name) {
			continue
		}
		path := join(c.Dir, name)
		stat, err := s.Exists(ctx, path)
		switch {
		case err != nil:
			return Entry{}, s.orBroken(err)
		case stat == nil: // it went meanwhile
			return Entry{}, nil
		case c.ephemeral() && stat.EphemeralOwner != s.ID():
			s.Remove(path)
			return Entry{}, nil
		}
		return Entry{Path: path, Stat: stat, Children: children}, nil
	}
	return Entry{}, nil
}

// listAfterAll lists a directory as it is after all that the session asked for on earlier connections.
func (s *Session) listAfterAll(ctx context.Context, dir string) (children []string, err error) {
	var found []string
	var behind error
	fence := s.fence(func(err error) { behind = err })
	if err := s.beSure(ctx, fence); err != nil {
		return nil, s.orBroken(err)
	}
	err = s.call(ctx, func(finish func(error)) []*transport.Call {
		return []*transport.Call{fence, transport.Children(dir, false, func(children []string, _ *zk.Stat, err error) {
			found = children
			if behind != nil && !errors.Is(err, transport.ErrBroken) {
				err = behind
			}
			finish(err)
		})}
	})
	if err != nil {
		return nil, s.orBroken(err)
	}
	return found, nil
}

// fence is a transaction that changes nothing. Once it is answered, none that the session asked for on an earlier
// connection is executed any more, and a listing behind it shows what they did: no server that is behind hides that,
// and no deposed leader, which would answer a sync. finish gets nil or why that is not so. The client need not have the
// right to read the root: a refusal is a transaction, too.
//
// By ZooKeeper's source it leaves two gaps. A server that stood still may tell the leader of a later handshake of the
// session first, and then pass on what it had of an earlier connection. And a move between observers of one follower
// (3.6) is none to the leader.
//
// No server is known that hangs up on it. For one that does it again and again, the session goes on with syncs.
func (s *Session) fence(finish func(error)) *transport.Call {
	if s.unfenced.Load() {
		return transport.Sync("/", finish)
	}
	root := join(s.cfg.Chroot, "")
	return transport.Multi([]transport.Op{transport.CheckOp(root, -1)}, func(_ []transport.OpResult, err error) {
		switch {
		case errors.Is(err, zk.ErrNoNode) || errors.Is(err, zk.ErrNoAuth): // some servers say it there
			err = nil
		case hungUp(err) && !s.unfenced.Swap(true):
			s.cfg.Transport.Logger.Warn("framework: the server hangs up on transactions, lost nodes are looked for after a sync", "error", err)
		}
		finish(err)
	})
}

// orBroken gives the connection up if the server cannot answer just now: another one may. The error is then that of a
// lost connection.
func (s *Session) orBroken(err error) error {
	if errors.Is(err, ErrConnectionLost) || errors.Is(err, ErrSessionLost) || Definite(err) || !Retryable(err) {
		return err
	}
	s.transport.Break(err)
	return fmt.Errorf("%w: %w", ErrConnectionLost, err)
}
