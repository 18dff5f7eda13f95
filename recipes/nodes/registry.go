package nodes

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/gocurator/curator/retry"
)

// mostSessions is how many sessions a registry remembers. If the servers have not ended an older one yet, its node
// counts as that of another client.
const mostSessions = 64

// A registry is what the persistent nodes of one client share.
type registry struct {
	// The IDs of the newest sessions, which nodes of this client may belong to.
	sessions atomic.Pointer[[]int64]
	kept     sync.Map // keepers by their keys: two of one path would take each other's node for their own
}

// add remembers a session. Its keepers add it at the same time.
func (r *registry) add(session int64) {
	for !r.had(session) {
		before := r.sessions.Load()
		var newest []int64
		if before != nil {
			newest = (*before)[max(0, len(*before)-mostSessions+1):]
		}
		after := append(slices.Clone(newest), session)
		r.sessions.CompareAndSwap(before, &after)
	}
}

// had reports whether a node of a session may be this client's.
func (r *registry) had(session int64) bool {
	sessions := r.sessions.Load()
	return sessions != nil && slices.Contains(*sessions, session)
}

// begin begins to keep the node. It waits for the end of a keeper that has been stopped.
func (n *PersistentNode) begin(ctx context.Context, k *keeper) error {
	for {
		other, kept := k.registry.kept.LoadOrStore(k.key, k)
		if !kept {
			break
		}
		former, _ := other.(*keeper)
		select {
		case <-former.stopped:
		default:
			if former.node == n {
				return ErrStarted
			}
			return fmt.Errorf("%w: %q", ErrKept, k.absolute)
		}
		select {
		case <-former.done:
		case <-ctx.Done():
			return fmt.Errorf("%w, while the node that was kept before is being removed", retry.ContextError(ctx))
		}
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.closed || n.keeper != nil {
		k.registry.kept.Delete(k.key)
		close(k.done) // another Start may have found k
		if n.closed {
			return ErrClosed
		}
		return ErrStarted
	}
	if !n.options.sequential() {
		n.state.path = k.absolute
	}
	n.state = state{path: n.state.path, had: n.state.had}
	n.keeper, k.path, k.missing = k, n.state.path, n.state.path == ""
	return nil
}
