package nodes

import (
	"context"
	"errors"
	"strings"

	"github.com/go-zookeeper/zk"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/framework/session"
)

// create creates the node. The look that follows shows whether it has the data: an earlier try may have created it with
// others. A node of another is looked at, too.
func (k *keeper) create(ctx context.Context, s session.Session) (err error) {
	k.want = k.node.want()
	path := k.path
	switch {
	case !k.node.options.ephemeral():
		path, err = k.createLasting(ctx)
	case path == "":
		path, err = k.createNumbered(ctx, s)
	default:
		err = s.CreateAt(ctx, path, k.want.data, nil)
	}
	switch {
	case err == nil:
		k.path = path
		k.node.change(func(is *state) { is.path = path })
	case !errors.Is(err, zk.ErrNodeExists):
		return err
	}
	k.missing = false
	return nil
}

func (k *keeper) createNumbered(ctx context.Context, s session.Session) (path string, err error) {
	slash := strings.LastIndexByte(k.absolute, '/')
	dir, name := k.absolute[:max(slash, 1)], k.absolute[slash+1:]
	created, err := s.CreateProtectedWithoutListing(ctx, dir, name, k.want.data)
	return created.Path, err
}

// write writes the data if the node has the version. Without an answer they may be written, also late.
func (k *keeper) write(ctx context.Context, s session.Session, version int32) error {
	stat, err := s.Set(ctx, k.path, k.want.data, version)
	switch {
	case err == nil:
		k.late = -1
		k.czxid = stat.Czxid // another node may have come to the path since the view, with the same version
		k.claim.take(stat.Czxid)
	case mayBeExecuted(ctx, err):
		k.late = version
		k.claim.doubt(version+1, k.want.data)
	}
	return err
}

// replace creates the node in place of that of an earlier session; also of a stranger's, if overwriting. A server that
// is behind may show the node of this client's last session when a successor has taken the path already, with a node of
// the same version. So the server catches up first, and the look is repeated.
func (k *keeper) replace(ctx context.Context, s session.Session, overwriting bool) error {
	if err := s.Sync(ctx, k.path); err != nil {
		return err
	}
	other, err := s.Exists(ctx, k.path)
	switch {
	case err != nil:
		return err
	case other == nil, k.node.options.isMine(other, other.EphemeralOwner == s.ID()):
		return nil // the next look shows it
	case !overwriting && !k.registry.had(other.EphemeralOwner):
		return nil
	case k.node.options.ephemeral():
		return unlessChanged(s.CreateAt(ctx, k.path, k.want.data, other))
	default: // not all servers exchange an ephemeral node and another one in one transaction
		return unlessChanged(k.deleteOnce(ctx, other.Version))
	}
}

// takeFormer makes a node of an earlier session the present one's, which RemoveAt can delete: the present session has
// begun right before the end, and has not replaced that node yet. It has a connection timeout for that, after the end
// of ctx. A node that is left goes with its session.
func (k *keeper) takeFormer(ctx context.Context, s session.Session) error {
	if k.written > 0 { // the present session has had a node
		return nil
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), k.node.client.ConnectionTimeout())
	defer cancel()
	for {
		if err := s.BlockUntilValid(ctx); err != nil {
			return err
		}
		if err := k.replace(ctx, s, false); !errors.Is(err, framework.ErrConnectionLost) {
			return err
		}
	}
}

// unlessChanged drops an error that says that the node is another one than that of the look: the next look shows it.
func unlessChanged(err error) error {
	if errors.Is(err, zk.ErrBadVersion) || errors.Is(err, zk.ErrNoNode) || errors.Is(err, zk.ErrNodeExists) {
		return nil
	}
	return err
}
