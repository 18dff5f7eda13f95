package session

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/go-zookeeper/zk"

	"github.com/gocurator/curator/framework/internal/transport"
	"github.com/gocurator/curator/retry"
)

// call sends requests, and waits for the last or for the end of ctx, but for no connection. After an error the
// variables that callbacks write to must not be read: an answer may still come.
func (s *Session) call(ctx context.Context, build func(finish func(error)) []*transport.Call) error {
	if ctx.Err() != nil {
		return retry.ContextError(ctx)
	}
	done := make(chan error, 1)
	calls := build(func(err error) { done <- err })
	for _, c := range calls {
		if err := s.checkSize(c); err != nil {
			return err
		}
	}
	meter := s.meter(ctx)
	s.mu.Lock()
	over, server := s.over, s.server
	sent := s.send(calls...)
	s.mu.Unlock()
	switch {
	case over != nil:
		return over
	case !sent:
		return ErrDetached
	}
	meter.sent(server, calls)
	select {
	case err := <-done:
		meter.received(calls)
		return err
	case <-ctx.Done():
		return retry.ContextError(ctx)
	}
}

// checkSize refuses what servers would close the connection on.
func (s *Session) checkSize(call *transport.Call) error {
	if size, most := call.Size(), s.cfg.MaxRequest; size > most {
		return fmt.Errorf("%w: the request has %d bytes, servers take %d (WithMaxRequest, jute.maxbuffer)", ErrTooLarge, size, most)
	}
	return nil
}

func one(c *transport.Call) []*transport.Call { return []*transport.Call{c} }

// Children returns the names of a node's children, unsorted, and the node's Stat. It blocks until the server has
// answered or ctx is done, and does not retry.
//
// Errors: the server's, [ErrConnectionLost], the session's, or ctx's cause.
func (s *Session) Children(ctx context.Context, path string) ([]string, *zk.Stat, error) {
	var found []string
	var seen *zk.Stat
	err := s.call(ctx, func(finish func(error)) []*transport.Call {
		return one(transport.Children(path, false, func(children []string, stat *zk.Stat, err error) {
			found, seen = children, stat
			if err == nil {
				s.notifyListed(path, children, stat)
			}
			finish(err)
		}))
	})
	if err != nil {
		return nil, nil, err
	}
	return found, seen, nil
}

// Exists returns a node's Stat, or nil if there is no node, like [Session.Children].
func (s *Session) Exists(ctx context.Context, path string) (*zk.Stat, error) {
	stat, err := s.stat(ctx, func(done func(*zk.Stat, error)) *transport.Call { return transport.Exists(path, false, done) })
	if errors.Is(err, zk.ErrNoNode) {
		return nil, nil
	}
	return stat, err
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

// Set replaces a node's data if it has the given version, -1 for any, like [Session.Children].
func (s *Session) Set(ctx context.Context, path string, data []byte, version int32) (*zk.Stat, error) {
	return s.stat(ctx, func(done func(*zk.Stat, error)) *transport.Call { return transport.Set(path, data, version, done) })
}

// Sync lets the server at hand catch up with the leader, like [Session.Children].
func (s *Session) Sync(ctx context.Context, path string) error {
	return s.call(ctx, func(finish func(error)) []*transport.Call { return one(transport.Sync(path, finish)) })
}

// AddAuth says who the client is, like [Session.Children], on this connection and, once a server has accepted it, on
// all later ones. A refusal is [ErrAuthRefused]; the server then closes the connection, and the session goes on.
func (s *Session) AddAuth(ctx context.Context, scheme string, credentials []byte) error {
	auth := transport.NewAuth(scheme, credentials)
	return s.call(ctx, func(finish func(error)) []*transport.Call { return one(s.transport.AddAuth(auth, finish)) })
}

// Delete removes a node that has the given version, -1 for any, like [Session.Children]. See also [Session.Remove].
func (s *Session) Delete(ctx context.Context, path string, version int32) error {
	return s.call(ctx, func(finish func(error)) []*transport.Call { return one(transport.Delete(path, version, finish)) })
}

// ACL returns a node's ACL and Stat, like [Session.Children].
func (s *Session) ACL(ctx context.Context, path string) ([]zk.ACL, *zk.Stat, error) {
	var found []zk.ACL
	var seen *zk.Stat
	err := s.call(ctx, func(finish func(error)) []*transport.Call {
		return one(transport.GetACL(path, func(acl []zk.ACL, stat *zk.Stat, err error) {
			found, seen = acl, stat
			finish(err)
		}))
	})
	if err != nil {
		return nil, nil, err
	}
	return found, seen, nil
}

// SetACL replaces a node's ACL if that has the given version, -1 for any, like [Session.Children].
func (s *Session) SetACL(ctx context.Context, path string, acl []zk.ACL, version int32) (*zk.Stat, error) {
	return s.stat(ctx, func(done func(*zk.Stat, error)) *transport.Call { return transport.SetACL(path, acl, version, done) })
}

// Multi does all parts or none, like [Session.Children]. Framework's Transaction explains its answers.
func (s *Session) Multi(ctx context.Context, parts []transport.Op) ([]transport.OpResult, error) {
	var answers []transport.OpResult
	err := s.call(ctx, func(finish func(error)) []*transport.Call {
		return one(transport.Multi(parts, func(results []transport.OpResult, err error) {
			answers = results
			finish(err)
		}))
	})
	if err != nil {
		return nil, err
	}
	return answers, nil
}

// List returns the names of a node's children, unsorted, as of some moment after the call. Unlike [Session.Children] it
// waits until the session is ready for a binding, and asks again whenever the connection breaks, or the server is
// overloaded.
//
// Errors: the server's (zk.ErrNoNode, …), the session's, or ctx's cause.
func (s *Session) List(ctx context.Context, path string) ([]string, error) {
	var pace retry.Pace
	for {
		began := time.Now()
		if err := s.Ready(ctx); err != nil {
			return nil, err
		}
		children, _, err := s.Children(ctx, path)
		if err == nil || !Retryable(err) {
			return children, err
		}
		_ = pace.WaitUnless(ctx, time.Since(began), s.done) // Ready tells
	}
}
