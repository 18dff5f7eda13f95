package session

import (
	"context"

	"github.com/go-zookeeper/zk"

	"github.com/gocurator/curator/framework/internal/transport"
)

// CreateIfExists creates an ephemeral node called name, with a GUID in front, under dir, if the node guard exists: in
// one transaction. It returns the path. Like [Session.CreateProtected] it blocks until the server has answered, and
// removes what a server creates late. It needs no right to read dir.
//
// Errors: zk.ErrNoNode without guard, and those of CreateProtected. No node remains.
func (s *Session) CreateIfExists(ctx context.Context, guard, dir, name string, data []byte) (string, error) {
	entry, err := s.createForSure(ctx, &Creation{
		Dir: dir, Name: name, Data: s.orDefault(data), Mode: Ephemeral, ACL: s.cfg.ACL(join(dir, name)), guard: guard,
	})
	return entry.Path, err
}

// createGuarded makes the request that creates a node if another exists. done gets no Stat.
func createGuarded(c *Creation, done func(path string, stat *zk.Stat, err error)) *transport.Call {
	path := c.path()
	parts := []transport.Op{transport.CheckOp(c.guard, -1), transport.CreateOp(path, c.Data, c.ACL, int32(c.Mode))}
	return transport.Multi(parts, func(results []transport.OpResult, err error) {
		for _, r := range results {
			if err == nil && r.Err != nil {
				err = r.Err
			}
		}
		done(path, nil, err)
	})
}
