package locks

import (
	"context"
	"errors"
	"fmt"

	"github.com/gocurator/curator/framework"
)

// revokeMessage in a lock's node asks its holder to leave. It is Curator's.
const revokeMessage = "__REVOKE__"

// AttemptRevoke asks a holder or waiter to leave: see [Lease.RevocationRequested]. nodePath is the path of a
// [Participant]; the client must be allowed to write the node. Java holders hear it if they have called makeRevocable.
// It blocks like every operation of package framework.
//
// Errors: zk.ErrNoNode if the contender has left; those of all operations.
//
// Curator: Revoker.attemptRevoke().
func AttemptRevoke(ctx context.Context, client *framework.Client, nodePath string) error {
	if client == nil {
		return errors.New("locks: revoke: client is nil")
	}
	_, err := client.Set(ctx, nodePath, []byte(revokeMessage), -1)
	if err != nil {
		return fmt.Errorf("locks: revoke: %w", err)
	}
	return nil
}

// RevocationRequested is closed when another client asks the holder to leave, even before the grant. The lease goes on
// until its Release. Requests for a node that this client may not read are not seen.
//
// Curator: Revocable.makeRevocable().
func (l *Lease) RevocationRequested() <-chan struct{} {
	if l.missing() != nil {
		return nil
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.revoked.requested == nil {
		l.revoked.requested = make(chan struct{})
		if l.revoked.done {
			close(l.revoked.requested)
		}
	}
	return l.revoked.requested
}

// A revocation is whether a holder was asked to leave. Its lease's mutex guards it.
type revocation struct {
	requested chan struct{} // nil until asked for
	done      bool
	others    []*leaseState // to be asked as well
}

// request asks the holder of a lease, and of multi-locks with it, to leave.
func (l *leaseState) request() {
	l.mu.Lock()
	first := !l.revoked.done
	l.revoked.done = true
	others := l.revoked.others
	if first && l.revoked.requested != nil {
		close(l.revoked.requested)
	}
	l.mu.Unlock()
	if !first {
		return
	}
	for _, other := range others {
		other.request()
	}
}
