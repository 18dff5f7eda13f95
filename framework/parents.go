package framework

import (
	"context"
	"errors"
	"fmt"

	"github.com/go-zookeeper/zk"

	"github.com/gocurator/curator/framework/internal/transport"
)

// makeParents creates dir and what is missing above it. Most often nothing is, or dir alone, so it begins at the bottom: it
// needs no right to read the ancestors.
func (s *Session) makeParents(ctx context.Context, dir string, mode CreateMode) error {
	for range parentTries {
		err := s.makeParent(ctx, dir, mode)
		switch {
		case err == nil, errors.Is(err, zk.ErrNodeExists):
			return nil
		case errors.Is(err, zk.ErrNoNode) && dir != "/":
			if err := s.makeParents(ctx, parent(dir), mode); err != nil {
				return err
			}
		default:
			return fmt.Errorf("parent %s: %w", dir, err)
		}
	}
	return fmt.Errorf("parent %s: %w again and again", dir, zk.ErrNoNode)
}

func (s *Session) makeParent(ctx context.Context, dir string, mode CreateMode) error {
	acl := s.core.acl(dir)
	return s.call(ctx, func(finish func(error)) []*transport.Call {
		return one(transport.Create(dir, nil, acl, int32(mode), 0, func(_ string, _ *zk.Stat, err error) { finish(err) }))
	})
}
