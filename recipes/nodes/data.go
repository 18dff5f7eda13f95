package nodes

import (
	"context"
	"fmt"
	"slices"
)

// Data returns what the node is to have, as it was set last.
//
// Curator: PersistentNode.getData().
func (n *PersistentNode) Data() []byte { return slices.Clone(n.want().data) }

// Set gives the node other data, and later nodes, too. It copies them, and blocks until the node has them, or newer
// ones of another Set. Data that others write stay until the next Set, or the next node.
//
// Errors: [ErrNotStarted]; [ErrClosed]; the end of ctx, with the reason why the node is not there: the data are written
// as soon as they can be; the server's zk.ErrNoAuth: so are these; framework.ErrTooLarge, which changes nothing, also
// if it comes after the end of ctx.
//
// Curator: PersistentNode.setData(), which does not wait.
func (n *PersistentNode) Set(ctx context.Context, data []byte) error {
	if err := n.set(ctx, copied(data)); err != nil {
		return fmt.Errorf("nodes: set %q: %w", n.path, err)
	}
	return nil
}

func (n *PersistentNode) set(ctx context.Context, data []byte) error {
	n.mu.Lock()
	k := n.keeper
	if n.closed || k == nil {
		defer n.mu.Unlock()
		return n.errLocked()
	}
	n.wanted = content{data, n.wanted.number + 1}
	number := n.wanted.number
	n.mu.Unlock()
	k.waiter.Signal()
	return n.await(ctx, k, number)
}

// copied returns a copy that is not nil: nil stands for the client's default data elsewhere.
func copied(data []byte) []byte { return append([]byte{}, data...) }

// want returns what the node is to have.
func (n *PersistentNode) want() content {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.wanted
}
