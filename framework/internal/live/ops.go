package live

import (
	"context"
	"time"

	"github.com/go-zookeeper/zk"

	"github.com/gocurator/curator/framework/internal/transport"
	"github.com/gocurator/curator/retry"
)

// Children is for [session.Reads].
func (s *Session) Children(ctx context.Context, path string) ([]string, *zk.Stat, error) {
	var found []string
	var seen *zk.Stat
	err := s.sender.call(ctx, func(finish func(error)) []*transport.Call {
		return one(transport.Children(path, false, func(children []string, stat *zk.Stat, err error) {
			found, seen = children, stat
			if err == nil {
				s.observers.listed(path, children, stat)
			}
			finish(err)
		}))
	})
	if err != nil {
		return nil, nil, err
	}
	return found, seen, nil
}

// Exists is for [session.Reads].
func (s *Session) Exists(ctx context.Context, path string) (*zk.Stat, error) {
	return s.sender.exists(ctx, path)
}

// Get is for [session.Reads].
func (s *Session) Get(ctx context.Context, path string) ([]byte, *zk.Stat, error) {
	return askWithStat(ctx, &s.sender, func(done func([]byte, *zk.Stat, error)) *transport.Call { return transport.Get(path, false, done) })
}

// Set is for [session.Nodes].
func (s *Session) Set(ctx context.Context, path string, data []byte, version int32) (*zk.Stat, error) {
	return ask(ctx, &s.sender, func(done func(*zk.Stat, error)) *transport.Call { return transport.Set(path, data, version, done) })
}

// Sync is for [session.Reads].
func (s *Session) Sync(ctx context.Context, path string) error {
	return s.sender.call(ctx, func(finish func(error)) []*transport.Call { return one(transport.Sync(path, finish)) })
}

// AddAuth says who the client is, like [session.Reads], on this connection and, once a server has accepted it, on
// all later ones. A refusal is [session.ErrAuthRefused]; the server then closes the connection, and the session goes
// on.
func (s *Session) AddAuth(ctx context.Context, scheme string, credentials []byte) error {
	auth := transport.NewAuth(scheme, credentials)
	return s.sender.call(ctx, func(finish func(error)) []*transport.Call { return one(s.base.transport.AddAuth(auth, finish)) })
}

// Delete removes a node that has the given version, -1 for any, like [session.Reads]. See also [Session.Remove].
func (s *Session) Delete(ctx context.Context, path string, version int32) error {
	return s.sender.call(ctx, func(finish func(error)) []*transport.Call { return one(transport.Delete(path, version, finish)) })
}

// ACL returns a node's ACL and Stat, like [session.Reads].
func (s *Session) ACL(ctx context.Context, path string) ([]zk.ACL, *zk.Stat, error) {
	return askWithStat(ctx, &s.sender, func(done func([]zk.ACL, *zk.Stat, error)) *transport.Call { return transport.GetACL(path, done) })
}

// SetACL replaces a node's ACL if that has the given version, -1 for any, like [session.Reads].
func (s *Session) SetACL(ctx context.Context, path string, acl []zk.ACL, version int32) (*zk.Stat, error) {
	return ask(ctx, &s.sender, func(done func(*zk.Stat, error)) *transport.Call { return transport.SetACL(path, acl, version, done) })
}

// Multi does all parts or none, like [session.Reads]. Framework's Transaction explains its answers.
func (s *Session) Multi(ctx context.Context, parts []transport.Op) ([]transport.OpResult, error) {
	return ask(ctx, &s.sender, func(done func([]transport.OpResult, error)) *transport.Call { return transport.Multi(parts, done) })
}

// List is for [session.Reads].
func (s *Session) List(ctx context.Context, path string) ([]string, error) {
	var pace retry.Pace
	for {
		began := time.Now()
		if err := s.BlockUntilValid(ctx); err != nil {
			return nil, err
		}
		children, _, err := s.Children(ctx, path)
		if err == nil || !Retryable(err) {
			return children, err
		}
		_ = pace.WaitOrDone(ctx, time.Since(began), s.base.done) // Ready reports the end
	}
}
