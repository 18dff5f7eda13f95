package session

import (
	"context"
	"errors"
	"time"

	"github.com/go-zookeeper/zk"

	"github.com/gocurator/curator/framework/internal/transport"
	"github.com/gocurator/curator/retry"
)

// CreateIfExists creates an ephemeral node called name, with a GUID in front, under dir, if the node guard exists: in
// one transaction. It returns the path. Like [Session.CreateProtected] it blocks until the server has answered, and
// never makes a second node.
//
// Errors: zk.ErrNoNode without guard, and those of CreateProtected. No node remains.
func (s *Session) CreateIfExists(ctx context.Context, guard, dir, name string, data []byte) (string, error) {
	path := join(dir, Protected(name))
	parts := []transport.Op{
		transport.CheckOp(guard, -1),
		transport.CreateOp(path, s.orDefault(data), s.cfg.ACL(join(dir, name)), transport.Ephemeral),
	}
	var pace retry.Pace
	for {
		began := time.Now()
		err := s.waitAttached(ctx)
		if err == nil {
			err = s.createIfExists(ctx, parts)
		}
		switch {
		case err == nil:
			return path, nil
		case errors.Is(err, transport.ErrBroken):
			// The name is unique: a repetition finds the node of the try before.
		case Retryable(err) && !errors.Is(err, ErrSessionLost): // another server may answer
			s.transport.Break(err)
		default:
			s.Remove(path)
			return "", err
		}
		_ = pace.WaitUnless(ctx, time.Since(began), s.done) // waitAttached tells
	}
}

func (s *Session) createIfExists(ctx context.Context, parts []transport.Op) error {
	results, err := s.Multi(ctx, parts)
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
