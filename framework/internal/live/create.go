package live

import (
	"context"

	"github.com/go-zookeeper/zk"

	"github.com/gocurator/curator/framework/session"
)

// Create tries once to create a node, and its parents if it may; the namespace's own node in any case. After a failure
// that is [Retryable] it can be called again with the same c, in any session. It does not wait for a connection.
func (s *Session) Create(ctx context.Context, c *Creation) (session.CreatedNode, error) {
	return s.maker.create(ctx, c)
}

// OrNoChroot returns err, by which dir is missing, together with [session.ErrNoChroot] if the chroot above it is.
func (s *Session) OrNoChroot(ctx context.Context, dir string, err error) error {
	return s.maker.orNoChroot(ctx, dir, err)
}

// CreateProtected is for [session.Nodes].
func (s *Session) CreateProtected(ctx context.Context, dir, name string, data []byte) (session.CreatedNode, error) {
	return s.maker.createProtected(ctx, dir, name, data, true)
}

// CreateProtectedWithoutListing is for [session.Nodes].
func (s *Session) CreateProtectedWithoutListing(ctx context.Context, dir, name string, data []byte) (session.CreatedNode, error) {
	return s.maker.createProtected(ctx, dir, name, data, false)
}

// CreateIfExists is for [session.Nodes].
func (s *Session) CreateIfExists(ctx context.Context, guard, dir, name string, data []byte) (string, error) {
	return s.maker.createIfExists(ctx, guard, dir, name, data)
}

// CreateAt is for [session.Nodes].
func (s *Session) CreateAt(ctx context.Context, path string, data []byte, replaced *zk.Stat) error {
	return s.maker.createAt(ctx, path, data, replaced)
}

// RemoveAt is for [session.Nodes].
func (s *Session) RemoveAt(path string) session.Removal { return s.maker.removeAt(path) }

// Remove is for [session.Nodes].
func (s *Session) Remove(path string) session.Removal { return s.removals.remove(path, false) }
