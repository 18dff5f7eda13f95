package live

import (
	"context"
	"errors"
	"fmt"
	"path"
	"strings"

	"github.com/go-zookeeper/zk"

	"github.com/gocurator/curator/framework/internal/transport"
	"github.com/gocurator/curator/framework/session"
)

// A maker creates nodes.
type maker struct {
	*sender
	observers *observers
	removals  *removals
	orphans   *orphans
	unsettled map[string]struct{} // paths of CreateAt at which a server may create a node late; guarded by the mutex
}

// create is [Session.Create].
func (m *maker) create(ctx context.Context, c *Creation) (session.CreatedNode, error) {
	if len(c.ACL) == 0 {
		named := Creation{Dir: c.Dir, Name: c.Name} // a GUID means nothing to the provider
		c.ACL = m.cfg.ACL(named.path())
	}
	try := m.createOnce
	if c.Protected {
		try = m.createOrFind
	}
	if c.Mode == session.Container && m.support.Lacks(transport.FeatureContainers) {
		return session.CreatedNode{}, fmt.Errorf("%w: containers came with ZooKeeper 3.5", session.ErrUnsupported)
	}
	for tries := 0; ; tries++ {
		entry, err := try(ctx, c)
		made := !c.Protected && errors.Is(err, errShortLived) // to do so again would be twice
		if made || !errors.Is(err, zk.ErrNoNode) || tries == parentTries {
			return entry, err
		}
		switch {
		case c.Parents:
			err = m.makeParents(ctx, c.Dir, c.ParentMode)
		case c.Namespace != "" && tries == 0:
			err = m.makeParents(ctx, c.Namespace, session.Container)
		default:
			err = m.orNoChroot(ctx, c.Dir, err)
		}
		if err != nil {
			return session.CreatedNode{}, err
		}
	}
}

// createOnce sends an unprotected create. Without its answer it may have been executed.
func (m *maker) createOnce(ctx context.Context, c *Creation) (session.CreatedNode, error) {
	entry, err := m.createBare(ctx, c)
	if err != nil || entry.Stat != nil {
		return entry, err
	}
	entry.Stat, err = m.exists(ctx, entry.Path)
	if err == nil && entry.Stat == nil {
		err = errShortLived
	}
	return entry, err
}

// createBare is createOnce for callers that need no Stat.
func (m *maker) createBare(ctx context.Context, c *Creation) (session.CreatedNode, error) {
	if err := m.beSure(ctx, m.createCall(c, func(string, *zk.Stat, error) {})); err != nil {
		return session.CreatedNode{}, err
	}
	path, stat, err := askWithStat(ctx, m.sender, func(done func(string, *zk.Stat, error)) *transport.Call { return m.createCall(c, done) })
	return session.CreatedNode{Path: path, Stat: stat}, err
}

func (m *maker) orDefault(data []byte) []byte {
	if data == nil {
		return m.cfg.DefaultData
	}
	return data
}

// makeParents creates dir and what is missing above it, but not the chroot, which is the operator's. It begins at the
// bottom, where most often all is there: it needs no right to read the ancestors.
func (m *maker) makeParents(ctx context.Context, dir string, mode session.CreateMode) error {
	if dir == m.cfg.Chroot {
		return m.findChroot(ctx)
	}
	for range parentTries {
		err := m.makeParent(ctx, dir, mode)
		switch {
		case err == nil, errors.Is(err, zk.ErrNodeExists):
			return nil
		case errors.Is(err, zk.ErrNoNode) && dir != "/":
			if err := m.makeParents(ctx, path.Dir(dir), mode); err != nil {
				return err
			}
		default:
			return fmt.Errorf("parent %s: %w", dir, err)
		}
	}
	return fmt.Errorf("parent %s: %w again and again", dir, zk.ErrNoNode)
}

// findChroot returns session.ErrNoChroot if the chroot is missing.
func (m *maker) findChroot(ctx context.Context) error {
	stat, err := m.exists(ctx, m.cfg.Chroot)
	switch {
	case errors.Is(err, zk.ErrNoAuth): // it exists, unreadable
		return nil
	case err == nil && stat == nil:
		return fmt.Errorf("%w: %s", session.ErrNoChroot, m.cfg.Chroot)
	default:
		return err
	}
}

// orNoChroot is [Session.OrNoChroot].
func (m *maker) orNoChroot(ctx context.Context, dir string, err error) error {
	if m.cfg.Chroot == "" || !strings.HasPrefix(dir+"/", m.cfg.Chroot+"/") {
		return err
	}
	if missing := m.findChroot(ctx); errors.Is(missing, session.ErrNoChroot) {
		return fmt.Errorf("%w: %w", missing, err)
	}
	return err
}

// makeParent creates dir, as a persistent node at a server without containers.
func (m *maker) makeParent(ctx context.Context, dir string, mode session.CreateMode) error {
	acl := m.cfg.ACL(dir)
	for {
		kind := mode
		bare := mode == session.Container && m.support.Lacks(transport.FeatureContainers)
		if bare {
			kind = session.Persistent
		}
		err := m.call(ctx, func(finish func(error)) []*transport.Call {
			c := &Creation{Dir: path.Dir(dir), Name: dir[strings.LastIndexByte(dir, '/')+1:], ACL: acl, Mode: kind}
			return one(m.createCall(c, func(_ string, _ *zk.Stat, err error) { finish(err) }))
		})
		again := !bare && mode == session.Container && m.support.Lacks(transport.FeatureContainers)
		if !again || !errors.Is(err, session.ErrUnsupported) {
			return err
		}
	}
}

// parentTries is how often a parent may vanish before its child is created: servers remove empty containers at any
// time. After that CreateProtected goes on at a slower pace, and other calls give up.
const parentTries = 5

// createCall makes the request that creates a node. At servers without create2 the Stat is nil, and has still to be
// asked for.
func (m *maker) createCall(c *Creation, done func(path string, stat *zk.Stat, err error)) *transport.Call {
	simple := c.Mode <= session.EphemeralSequential
	switch {
	case c.first != nil:
		return createAfter(*c.first, c, done)
	case !simple:
		return transport.Create(c.path(), c.Data, c.ACL, int32(c.Mode), c.TTL, done)
	case m.support.Lacks(transport.FeatureCreate2):
		return transport.CreateBare(c.path(), c.Data, c.ACL, int32(c.Mode), done)
	}
	return transport.Create(c.path(), c.Data, c.ACL, int32(c.Mode), c.TTL, func(path string, stat *zk.Stat, err error) {
		// the next connection does without create2: a server that lacks it closes this one
		if errors.Is(err, session.ErrUnsupported) {
			err = fmt.Errorf("%w: %w", session.ErrConnectionLost, err)
		}
		done(path, stat, err)
	})
}

// withStat asks for the Stat of a node that was created without. If the connection breaks, that is as if the create's
// answer were lost: the node is found by its GUID. If the node was removed, the error is zk.ErrNoNode.
func (m *maker) withStat(ctx context.Context, c *Creation, entry session.CreatedNode) (session.CreatedNode, error) {
	stat, err := m.exists(ctx, entry.Path)
	switch {
	case err == nil && stat == nil:
		return session.CreatedNode{}, errShortLived
	case err == nil:
		entry.Stat = stat
		return entry, nil
	case !Retryable(err):
		m.removals.remove(entry.Path, !c.ephemeral())
	}
	return session.CreatedNode{}, m.orBroken(err)
}

// errShortLived says that a node that was created without its Stat is gone.
var errShortLived = fmt.Errorf("%w: it was created, and removed before its Stat was read", zk.ErrNoNode)
