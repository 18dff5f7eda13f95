package framework

import (
	"context"
	"errors"

	"github.com/go-zookeeper/zk"

	"github.com/gocurator/curator/framework/internal/transport"
)

// EnterBeside creates an ephemeral node called name, with a GUID in front, under dir, if the node guard is there at that moment:
// both in one transaction. It returns the path. Like [Session.Enter] it blocks until the server has answered, and never makes a
// second node.
//
// Errors: zk.ErrNoNode if guard is not there, and those of Enter. No node remains.
func (s *Session) EnterBeside(ctx context.Context, guard, dir, name string, data []byte) (string, error) {
	path := join(dir, protected(name))
	parts := []transport.Op{
		transport.CheckOp(guard, -1),
		transport.CreateOp(path, s.core.orDefault(data), s.core.acl(join(dir, name)), transport.Ephemeral),
	}
	for {
		err := s.waitAttached(ctx)
		if err == nil {
			err = s.createBeside(ctx, parts)
		}
		switch {
		case err == nil:
			return path, nil
		case errors.Is(err, transport.ErrBroken):
			// The name is this call's own: a repetition finds the node of the try before.
		case retryable(err) && !errors.Is(err, ErrSessionLost): // the server cannot answer just now; another one may
			s.transport.Break(err)
		default:
			s.Remove(path)
			return "", err
		}
	}
}

func (s *Session) createBeside(ctx context.Context, parts []transport.Op) error {
	results, err := s.multi(ctx, parts)
	if err != nil {
		return err
	}
	for _, r := range results {
		if r.Err != nil && !errors.Is(r.Err, zk.ErrNodeExists) {
			return r.Err
		}
	}
	return nil
}
