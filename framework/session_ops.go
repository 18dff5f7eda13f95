package framework

import (
	"context"
	"fmt"

	"github.com/go-zookeeper/zk"

	"github.com/gocurator/curator/framework/internal/transport"
)

// call sends requests, the last of which finishes it, and waits for that or for the end of ctx. It does not wait for a
// connection. After an error the variables that the callbacks write to must not be read: an answer may still come.
func (s *Session) call(ctx context.Context, build func(finish func(error)) []*transport.Call) error {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	done := make(chan error, 1)
	calls := build(func(err error) { done <- err })
	for _, c := range calls {
		if c.Size() > maxRequest {
			return fmt.Errorf("%w: %d bytes, servers take %d", ErrTooLarge, c.Size(), maxRequest)
		}
	}
	s.mu.Lock()
	over := s.over
	sent := s.send(calls...)
	s.mu.Unlock()
	switch {
	case over != nil:
		return over
	case !sent:
		return errDetached
	}
	select {
	case err := <-done:
		return err
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

func one(c *transport.Call) []*transport.Call { return []*transport.Call{c} }

// Children lists the names of a node's children, unsorted. It blocks until the server has answered or ctx is done, and does
// not retry.
//
// Errors: the server's, [ErrConnectionLost], the session's, or ctx's cause.
func (s *Session) Children(ctx context.Context, path string) (children []string, err error) {
	children, _, err = s.children(ctx, path)
	return children, err
}

func (s *Session) children(ctx context.Context, path string) ([]string, *zk.Stat, error) {
	var found []string
	var seen *zk.Stat
	err := s.call(ctx, func(finish func(error)) []*transport.Call {
		return one(transport.Children(path, false, func(children []string, stat *zk.Stat, err error) {
			found, seen = children, stat
			if err == nil {
				s.listed(path, children, stat)
			}
			finish(err)
		}))
	})
	if err != nil {
		return nil, nil, err
	}
	return found, seen, nil
}

// Exists reads a node's Stat, like [Session.Children]. If there is no node, the error is zk.ErrNoNode.
func (s *Session) Exists(ctx context.Context, path string) (*zk.Stat, error) {
	return s.stat(ctx, func(done func(*zk.Stat, error)) *transport.Call { return transport.Exists(path, false, done) })
}

// Get reads a node's data and Stat, like [Session.Children].
func (s *Session) Get(ctx context.Context, path string) ([]byte, *zk.Stat, error) {
	var found []byte
	var seen *zk.Stat
	err := s.call(ctx, func(finish func(error)) []*transport.Call {
		return one(transport.Get(path, false, func(data []byte, stat *zk.Stat, err error) {
			found, seen = data, stat
			finish(err)
		}))
	})
	if err != nil {
		return nil, nil, err
	}
	return found, seen, nil
}

// stat sends a request whose answer is a Stat.
func (s *Session) stat(ctx context.Context, build func(done func(*zk.Stat, error)) *transport.Call) (*zk.Stat, error) {
	var seen *zk.Stat
	err := s.call(ctx, func(finish func(error)) []*transport.Call {
		return one(build(func(stat *zk.Stat, err error) {
			seen = stat
			finish(err)
		}))
	})
	if err != nil {
		return nil, err
	}
	return seen, nil
}
