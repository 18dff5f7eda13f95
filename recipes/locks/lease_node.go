package locks

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/recipes/internal/queue"
)

// Parts are the leases of a multi-lock's locks, in their order; nil for every other lock.
func (l *Lease) Parts() []*Lease {
	if l.missing() != nil {
		return nil
	}
	return slices.Clone(l.parts)
}

// noGrant stands for the grant of a lease that has no node.
var noGrant queue.Grant

func (l *Lease) ownGrant() *queue.Grant {
	if l.missing() != nil || l.grant == nil {
		return &noGrant
	}
	return l.grant
}

// Path is the path of the lock, as given to its constructor; empty for a multi-lock.
func (l *Lease) Path() string {
	if l.ownGrant() == &noGrant {
		return ""
	}
	return l.recipe.path
}

// NodeName is the name of the lease's node; empty for a multi-lock.
//
// Curator: Lease.getNodeName().
func (l *Lease) NodeName() string { return l.ownGrant().Name }

// FencingToken is the zxid of the node's creation, greater than the token of every earlier hold of the same lock that
// excludes this one, of any session, process or language. A store that remembers the greatest token it has seen can
// refuse a late holder. A multi-lock has none, but its Parts have. Holds that share a node, see [RetainedLock], share
// its token, and differ by [Lease.FencingCount].
func (l *Lease) FencingToken() int64 { return l.ownGrant().Token }

// FencingCount is how many holds the lease's node had before this one: 0 unless it was retained, see [RetainedLock], or
// for a multi-lock. The pair of FencingToken and FencingCount, in this order, is greater than every earlier pair of a
// hold that excludes this one. A retained lock must not guard a store that can remember only one number.
func (l *Lease) FencingCount() int64 { return l.ownGrant().Count }

// Check begins a transaction that must happen only while the lock is held: the server checks that the lease's node
// exists. If the lease has ended, the transaction is not sent and fails with the lease's Err. A Check taken before
// fails after the hold, because its node is not retained. Of a multi-lock, check the Parts.
func (l *Lease) Check() framework.Op {
	err := l.Err()
	switch {
	case err != nil:
		return framework.Op{}.Failing(err)
	case l.grant == nil:
		return framework.Op{}.Failing(errMultiLease)
	}
	l.grant.Spend()
	// The lease may have left the grant in a Release that has not ended the lease yet, and the grant's last lease may
	// have freed the node before Spend.
	if err := l.grant.Err(); err != nil {
		return framework.Op{}.Failing(err)
	}
	return framework.CheckOp(l.grant.Node, -1).Absolute()
}

var errMultiLease = errors.New("locks: the lease of a multi-lock has no node; ask its Parts")

// Data reads the data of the lease's node; a multi-lock's has none.
//
// Errors: the lease's Err; those of all operations of package framework.
//
// Curator: Lease.getData().
func (l *Lease) Data(ctx context.Context) ([]byte, error) {
	if err := l.Err(); err != nil {
		return nil, err
	}
	if l.grant == nil {
		return nil, errMultiLease
	}
	client := l.recipe.id.client
	data, _, err := client.Get(ctx, client.RelativePath(l.grant.Node))
	if err != nil {
		return nil, fmt.Errorf("locks: data of lease on %q: %w", l.recipe.path, err)
	}
	return data, nil
}
