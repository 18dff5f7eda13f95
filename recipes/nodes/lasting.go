package nodes

import (
	"context"
	"errors"
	"time"

	"github.com/go-zookeeper/zk"

	"github.com/gocurator/curator/framework"
)

// touchName is the child that keeps a node with a TTL, as in Java.
const touchName = "touch"

// keepTTL has the servers keep a node with a TTL: twice in that time it writes a child, of the same TTL.
func (k *keeper) keepTTL(ctx context.Context) error {
	o := &k.node.options
	if !o.hasTTL() || !k.node.There() {
		return nil
	}
	half := o.ttl / 2
	if time.Since(k.touched) < half {
		return nil
	}
	touch := k.node.client.RelativePath(k.path) + "/" + touchName
	_, _, err := k.node.client.Create(ctx, touch, []byte{}, framework.WithMode(framework.PersistentWithTTL), framework.WithTTL(o.ttl), framework.OrSetData(-1))
	if err != nil && !errors.Is(err, zk.ErrNoNode) { // a node that is gone is created again
		return err
	}
	k.touched = time.Now()
	k.beat = time.AfterFunc(half, k.waiter.Signal)
	return nil
}

// createLasting creates a node that outlives sessions; the first time with a GUID and a number, if it is to have them.
// Create tries again by itself. So zk.ErrNodeExists may come of its own node, and is framework.ErrConnectionLost then.
func (k *keeper) createLasting(ctx context.Context) (path string, err error) {
	client, o := k.node.client, &k.node.options
	path = k.path
	opts := []framework.CreateOption{framework.WithMode(o.fixed()), framework.CreatingParentContainersIfNeeded()}
	if path == "" {
		path = k.absolute
		opts = append(opts, framework.WithMode(o.mode), framework.WithProtection())
	}
	if o.hasTTL() {
		opts = append(opts, framework.WithTTL(o.ttl))
	}
	created, stat, err := client.Create(ctx, client.RelativePath(path), k.want.data, opts...)
	switch {
	case err == nil:
		k.claim.take(stat.Czxid)
		return client.AbsolutePath(created)
	case mayBeExecuted(ctx, err):
		k.claim.doubt(0, k.want.data)
	}
	return "", err
}

// removeLasting removes a node that outlives sessions, if it is this keeper's. It has a connection timeout for that,
// after the end of ctx. After a lost answer the next node may be a successor's. A server that is behind would still
// show the first, so it catches up before each look; on the same connection it has also executed or refused what was
// sent before.
func (k *keeper) removeLasting(ctx context.Context) error {
	client, path := k.node.client, k.node.client.RelativePath(k.path)
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), client.ConnectionTimeout())
	defer cancel()
	for {
		if err := client.Sync(ctx, path); err != nil {
			return err
		}
		stat, err := k.findOwn(ctx, path)
		if err != nil || stat == nil {
			return err
		}
		if k.node.options.hasTTL() {
			if err := client.Delete(ctx, path+"/"+touchName, -1); err != nil && !errors.Is(err, zk.ErrNoNode) {
				return err
			}
		}
		if err = unlessChanged(k.deleteOnce(ctx, stat.Version)); err != nil && !errors.Is(err, framework.ErrConnectionLost) {
			return err
		}
	}
}

// findOwn returns the Stat of the node at path, if it outlives sessions and is this keeper's; otherwise nil.
func (k *keeper) findOwn(ctx context.Context, path string) (*zk.Stat, error) {
	client := k.node.client
	stat, err := client.Exists(ctx, path)
	switch {
	case err != nil || stat == nil || stat.EphemeralOwner != 0:
		return nil, err
	case k.node.options.sequential() || k.claim.has(stat): // the name has the GUID of this keeper's node
		return stat, nil
	case !k.claim.doubts():
		return nil, nil
	}
	data, stat, err := client.Get(ctx, path)
	switch {
	case errors.Is(err, zk.ErrNoNode):
		return nil, nil
	case err != nil || !k.claim.sees(data, stat):
		return nil, err
	}
	return stat, nil
}

// deleteOnce deletes the node if it has the version. After a lost connection it does not ask again: the node may be
// that of a successor by then.
func (k *keeper) deleteOnce(ctx context.Context, version int32) error {
	_, err := k.node.client.Transaction(ctx, framework.DeleteOp(k.path, version).Absolute())
	return err
}
