package locks

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/gocurator/curator/framework"
)

// Parts are the leases of the locks that a multi-lock is made of, in their order; nil for every other lock.
func (l *Lease) Parts() []*Lease { return slices.Clone(l.parts) }

// Path is the path of the lock, as it was given to its constructor; empty for a multi-lock.
func (l *Lease) Path() string {
	if l.grant == nil {
		return ""
	}
	return l.recipe.path
}

// NodeName is the name of the node that stands for the lease among the lock's children; empty for a multi-lock.
//
// Curator: Lease.getNodeName().
func (l *Lease) NodeName() string {
	if l.grant == nil {
		return ""
	}
	return l.grant.Name
}

// FencingToken is a number that is greater than that of every earlier hold of the same lock that excludes this one,
// whatever session, process or language it belonged to: the zxid with which the node was created. A store that
// remembers the greatest token it has seen can refuse a holder that is late. A multi-lock has none, but its Parts have.
//
// Of a lock of [Retain] it is greater than that of every earlier node; holds that share a node share the token, and
// differ by [Lease.LocalCount].
func (l *Lease) FencingToken() int64 {
	if l.grant == nil {
		return 0
	}
	return l.grant.Token
}

// LocalCount is how many holds the lease's node had before this one: 0 unless it was retained, see [Retain],
// and then 1, 2, and so on. The pair of FencingToken and LocalCount, compared in this order, is
// greater than that of every earlier hold that excludes this one. A store that can remember only one number is not to
// be guarded by a retained lock.
//
// A multi-lock's is 0, but its Parts have theirs.
func (l *Lease) LocalCount() int64 {
	if l.grant == nil {
		return 0
	}
	return l.grant.Count
}

// Check is for the beginning of a transaction that must happen only while the lock is held: the server then checks that
// the lease's node is there. If the lease has ended, the transaction fails with the lease's Err, and is not sent. A
// Check that was taken while the lease lasted fails after the hold has ended: a node of which one was taken is not
// retained, see [Retain]. Of a multi-lock, the Parts are to be checked.
func (l *Lease) Check() framework.Op {
	err := l.Err()
	switch {
	case err != nil:
		return framework.FailedOp(err)
	case l.grant == nil:
		return framework.FailedOp(errMultiLease)
	}
	if err := l.grant.UseNode(); err != nil {
		return framework.FailedOp(err)
	}
	return framework.CheckAbsoluteOp(l.grant.Node, -1)
}

// errMultiLease refuses what a lease can do only if it has one node.
var errMultiLease = errors.New("locks: the lease of a multi-lock has no node; ask its Parts")

// Data reads what the lease's node contains. A multi-lock's lease has no node.
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
