package nodes

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/gocurator/curator/framework"
)

// Data returns what the node is to have, as it was set last.
//
// Curator: PersistentNode.getData().
func (n *PersistentNode) Data() []byte {
	n.mu.Lock()
	defer n.mu.Unlock()
	return slices.Clone(n.data)
}

// Set gives the node other data, and later nodes, too. It copies them, and blocks until the node has them, or newer
// ones of another Set. Data that others write stay until the next Set, or the next node.
//
// Errors: [ErrNotStarted]; [ErrClosed]; the end of ctx, with the reason why the node is not there: the data are written
// as soon as they can be; the server's zk.ErrNoAuth: so are these; framework.ErrTooLarge, which changes nothing.
//
// Curator: PersistentNode.setData(), which does not wait.
func (n *PersistentNode) Set(ctx context.Context, data []byte) error {
	n.mu.Lock()
	k := n.keeper
	switch {
	case n.closed:
		n.mu.Unlock()
		return ErrClosed
	case k == nil:
		n.mu.Unlock()
		return ErrNotStarted
	}
	n.wanted++
	number := n.wanted
	n.data = copied(data)
	n.mu.Unlock()
	k.waiter.Signal()
	err := n.await(ctx, func() (bool, error) {
		if n.reason != nil && !errors.Is(n.reason, ErrForeign) && n.tried >= number {
			return false, n.reason
		}
		if n.keeper != k { // Start has failed meanwhile
			return false, ErrNotStarted
		}
		return n.written >= number, nil
	})
	if errors.Is(err, framework.ErrTooLarge) {
		n.takeBack(number)
		k.waiter.Signal()
	}
	if err != nil {
		return fmt.Errorf("nodes: set %q: %w", n.path, err)
	}
	return nil
}

// takeBack replaces data that no node can have by those that it had. The next session could make none with them.
func (n *PersistentNode) takeBack(number int) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.wanted == number && n.had != nil {
		n.data = n.had
		n.wanted++
	}
}

// copied returns a copy that is not nil: nil stands for the client's default data elsewhere.
func copied(data []byte) []byte { return append([]byte{}, data...) }

// want returns the data that the node is to have, and their number.
func (n *PersistentNode) want() (data []byte, number int) {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.data, n.wanted
}

// pending reports whether newer data than the node's are to be written.
func (n *PersistentNode) pending() bool {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.wanted > n.written
}
