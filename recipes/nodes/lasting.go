package nodes

import (
	"context"
	"errors"
	"strings"
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
	time.AfterFunc(half, k.waiter.Signal)
	return nil
}

// mayRemain reports whether the node was created here, or may have been, and was not removed.
func (k *keeper) mayRemain() bool { return k.path != "" && (k.made != 0 || k.unknown != nil) }

// removeLasting removes a node that outlives sessions, if it is the one that was created here. It has a connection
// timeout for that, after ctx, which has ended. After a success it does nothing.
func (k *keeper) removeLasting(ctx context.Context) error {
	client := k.node.client
	if !k.mayRemain() || client.Err() != nil {
		return nil
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), client.ConnectionTimeout())
	defer cancel()
	path := client.RelativePath(k.path)
	for {
		data, stat, err := client.Get(ctx, path)
		if err == nil && stat.EphemeralOwner == 0 && isMade(framework.View{Stat: stat, Data: data}, k.made, k.unknown) {
			if k.node.options.hasTTL() {
				if err := client.Delete(ctx, path+"/"+touchName, -1); err != nil && !errors.Is(err, zk.ErrNoNode) {
					return err
				}
			}
			err = k.deleteOnce(ctx, stat.Version)
		}
		switch {
		case err == nil, errors.Is(err, zk.ErrNoNode):
			k.made, k.unknown = 0, nil
			return nil
		case !errors.Is(err, zk.ErrBadVersion) && !errors.Is(err, framework.ErrConnectionLost):
			return err
		}
	}
}

// deleteOnce deletes the node if it has the version. After a lost connection it does not ask again: the node may be
// that of a successor by then.
func (k *keeper) deleteOnce(ctx context.Context, version int32) error {
	_, err := k.node.client.Transaction(ctx, framework.DeleteOp(k.node.client.RelativePath(k.path), version))
	return err
}

// split returns a node's parent and name.
func split(path string) (dir, name string) {
	i := strings.LastIndexByte(path, '/')
	return path[:max(i, 1)], path[i+1:]
}
