package nodes

import (
	"context"
	"errors"

	"github.com/go-zookeeper/zk"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/framework/session"
)

// create creates the node. One that is there already is looked at next.
func (k *keeper) create(ctx context.Context, s session.Session) error {
	n := k.node
	data, number := n.want()
	k.trying, k.confirmed = number, false
	switch {
	case n.options.ephemeral() && k.path != "":
		err := s.CreateAt(ctx, k.path, data, nil)
		if errors.Is(err, zk.ErrNodeExists) {
			return nil
		}
		k.sure = err == nil
		return err // a node with the data of an earlier try counts as created: the look shows them
	case n.options.ephemeral():
		dir, name := split(k.absolute)
		created, err := s.CreateProtectedWithoutListing(ctx, dir, name, data)
		if err != nil {
			return err
		}
		k.path, k.sure = created.Path, true
	default:
		k.unknown = data
		path, stat, err := n.client.Create(ctx, n.client.RelativePath(k.orAbsolute()), data, k.createOptions()...)
		if errors.Is(err, zk.ErrNodeExists) {
			return nil
		}
		if refuses(ctx, err) {
			k.unknown = nil
		}
		if err != nil {
			return err
		}
		if k.path, err = n.client.AbsolutePath(path); err != nil {
			return err
		}
		k.made, k.unknown = stat.Czxid, nil
	}
	k.confirmed = true
	n.found(n.client.RelativePath(k.path), number)
	return nil
}

func (k *keeper) orAbsolute() string {
	if k.path == "" {
		return k.absolute
	}
	return k.path
}

func (k *keeper) createOptions() []framework.CreateOption {
	o := &k.node.options
	opts := []framework.CreateOption{framework.WithMode(o.mode), framework.CreatingParentContainersIfNeeded()}
	if k.path != "" {
		opts[0] = framework.WithMode(o.fixed())
	} else {
		opts = append(opts, framework.WithProtection())
	}
	if o.hasTTL() {
		opts = append(opts, framework.WithTTL(o.ttl))
	}
	return opts
}

// replace creates the node in place of another, if that is still there. A server that is behind may show the node of
// this client's last session when a successor has taken the path already, with a node of the same version. So the
// server catches up first, and the look is repeated.
func (k *keeper) replace(ctx context.Context, s session.Session, data []byte, other *zk.Stat) error {
	if err := s.Sync(ctx, k.path); err != nil {
		return err
	}
	now, err := s.Exists(ctx, k.path)
	if err != nil || now == nil || now.Czxid != other.Czxid {
		return err // the next look shows what is there
	}
	k.confirmed = false
	if k.node.options.ephemeral() {
		return unlessChanged(s.CreateAt(ctx, k.path, data, now))
	}
	// An ephemeral node, and one with a TTL, cannot be exchanged in one transaction at all servers.
	return unlessChanged(k.deleteOnce(ctx, now.Version))
}

// unlessChanged drops an error that says that the node is another one than that of the look: the next look shows it.
func unlessChanged(err error) error {
	if errors.Is(err, zk.ErrBadVersion) || errors.Is(err, zk.ErrNoNode) || errors.Is(err, zk.ErrNodeExists) {
		return nil
	}
	return err
}
