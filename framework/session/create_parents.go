package session

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/go-zookeeper/zk"

	"github.com/gocurator/curator/framework/internal/transport"
)

// makeParents creates dir and what is missing above it. It begins at the bottom, where most often all is there: it
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

// makeParent creates dir, as a persistent node at a server without containers.
func (s *Session) makeParent(ctx context.Context, dir string, mode CreateMode) error {
	acl := s.cfg.ACL(dir)
	for {
		kind := mode
		bare := mode == Container && s.support.Lacks(transport.FeatureContainers)
		if bare {
			kind = Persistent
		}
		err := s.call(ctx, func(finish func(error)) []*transport.Call {
			c := &Creation{Dir: parent(dir), Name: dir[strings.LastIndexByte(dir, '/')+1:], ACL: acl, Mode: kind}
			return one(s.createCall(c, func(_ string, _ *zk.Stat, err error) { finish(err) }))
		})
		again := !bare && mode == Container && s.support.Lacks(transport.FeatureContainers)
		if !again || !errors.Is(err, ErrUnsupported) {
			return err
		}
	}
}

// parentTries is how often a parent may vanish before its child is created: servers remove empty containers at any
// time. After that CreateProtected goes on at a slower pace, and other calls give up.
const parentTries = 5
