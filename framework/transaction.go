package framework

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"path"
	"slices"

	"github.com/go-zookeeper/zk"

	"github.com/gocurator/curator/framework/internal/live"
	"github.com/gocurator/curator/framework/internal/transport"
)

// An Op is one part of a transaction.
//
// Curator: CuratorOp.
type Op struct {
	name     string
	path     string
	build    func(absolute string, c *core) transport.Op
	absolute bool
	err      error
}

// A Result is what one part of a transaction did.
//
// Curator: CuratorTransactionResult.
type Result struct {
	Path string   // the created node's, with its number if it is sequential
	Stat *zk.Stat // the set node's
}

// CreateOp creates a node. Of the options, WithMode (one of the first four) and WithACL count in a transaction.
//
// Curator: TransactionOp.create().
func CreateOp(path string, data []byte, opts ...CreateOption) Op {
	spec := newCreateSpec(opts)
	op := Op{name: "create", path: path, err: spec.validate(path)}
	switch {
	case op.err != nil:
	case spec.mode > EphemeralSequential:
		op.err = fmt.Errorf("mode %d is not supported in a transaction", spec.mode)
	case spec.parents || spec.protection || spec.orSet:
		op.err = errors.New("transactions do not support parent creation, protection or OrSetData")
	}
	op.build = func(absolute string, c *core) transport.Op {
		acl := spec.acl
		if len(acl) == 0 {
			acl = c.acl(absolute)
		}
		return transport.CreateOp(absolute, c.orDefault(data), acl, int32(spec.mode))
	}
	return op
}

// DeleteOp deletes a node of the given version; -1 is any.
//
// Curator: TransactionOp.delete().
func DeleteOp(path string, version int32) Op {
	return Op{name: "delete", path: path, build: func(absolute string, _ *core) transport.Op {
		return transport.DeleteOp(absolute, version)
	}}
}

// SetOp replaces the data of a node of the given version; -1 is any.
//
// Curator: TransactionOp.setData().
func SetOp(path string, data []byte, version int32) Op {
	return Op{name: "set", path: path, build: func(absolute string, _ *core) transport.Op {
		return transport.SetOp(absolute, data, version)
	}}
}

// CheckOp lets the transaction fail unless the node exists and has the given version; -1 is any.
//
// Curator: TransactionOp.check().
func CheckOp(path string, version int32) Op {
	return Op{name: "check", path: path, build: func(absolute string, _ *core) transport.Op {
		return transport.CheckOp(absolute, version)
	}}
}

// Absolute returns op for a path as [Client.AbsolutePath] returns it, for recipes.
func (op Op) Absolute() Op {
	op.absolute = true
	return op
}

// Failing returns op so that its transaction fails with err and is not sent: for functions that return an Op and
// cannot. The zero Op will do.
func (op Op) Failing(err error) Op {
	op.name, op.err = cmp.Or(op.name, "check"), err
	return op
}

// A TransactionError names the part that failed. Nothing of the transaction was done. It unwraps to the reason.
type TransactionError struct {
	Index int    // the failed part's, from 0 on
	Op    string // "create", "delete", "set" or "check"
	Path  string
	Err   error
}

func (e *TransactionError) Error() string {
	return fmt.Sprintf("framework: transaction: part %d (%s %q): %v", e.Index, e.Op, e.Path, e.Err)
}

// Unwrap returns the reason.
func (e *TransactionError) Unwrap() error { return e.Err }

// Transaction does all ops or none of them, at one moment.
//
// It blocks like every operation, and retries if it certainly was not executed. If the connection broke after it was
// sent, it returns [ErrConnectionLost]: to repeat it could do everything twice.
//
// Errors: a [*TransactionError] that unwraps to an op's own error, or to the server's answer for the part that failed,
// such as zk.ErrNoNode, with [ErrNoChroot] if a create lacks the chroot; those of all operations.
//
// Curator: CuratorFramework.transaction().forOperations().
func (c *Client) Transaction(ctx context.Context, ops ...Op) ([]Result, error) {
	parts := make([]transport.Op, len(ops))
	for i, op := range ops {
		absolute, err := c.pathOf(op)
		if err = cmp.Or(op.err, err); err != nil {
			return nil, &TransactionError{Index: i, Op: op.name, Path: op.path, Err: err}
		}
		parts[i] = op.build(absolute, c.core)
	}
	var answers []transport.OpResult
	err := c.do(ctx, "transaction", "/", func(ctx context.Context, s *live.Session, _ string, _ bool) (err error) {
		answers, err = s.Multi(ctx, parts)
		if err != nil && live.Retryable(err) && !unexecuted(err) {
			return &finalError{err}
		}
		for i, a := range answers {
			answers[i].Err = c.missingParent(ctx, s, ops[i], a.Err)
		}
		return err
	})
	if err != nil {
		return nil, err
	}
	return c.results(ops, answers)
}

// pathOf returns the path of op as the server knows it.
func (c *Client) pathOf(op Op) (string, error) {
	if op.absolute {
		return op.path, nil
	}
	return c.AbsolutePath(op.path)
}

// unexecuted reports whether err proves that a request was not executed.
func unexecuted(err error) bool {
	return slices.ContainsFunc([]error{
		live.ErrNotSent, ErrSessionLost, zk.ErrSessionMoved, zk.ErrSessionExpired, transport.ErrThrottled,
	}, func(refusal error) bool { return errors.Is(err, refusal) })
}

// missingParent names the node that a creation lacks. It can be one that the caller never named.
func (c *Client) missingParent(ctx context.Context, s *live.Session, op Op, err error) error {
	if op.name != "create" || !errors.Is(err, zk.ErrNoNode) {
		return err
	}
	absolute, _ := c.pathOf(op) // the server has taken it for a path
	parent := path.Dir(absolute)
	if err = s.OrNoChroot(ctx, parent, err); errors.Is(err, ErrNoChroot) {
		return err
	}
	return fmt.Errorf("%w: %q has to be made before, since transactions make no parents", err, parent)
}

// results takes the first error for the failed part's: it is its own.
func (c *Client) results(ops []Op, answers []transport.OpResult) ([]Result, error) {
	results := make([]Result, len(answers))
	for i, a := range answers {
		if a.Err != nil {
			return nil, &TransactionError{Index: i, Op: ops[i].name, Path: ops[i].path, Err: a.Err}
		}
		if a.Path != "" {
			results[i].Path = c.RelativePath(a.Path)
		}
		results[i].Stat = a.Stat
	}
	return results, nil
}
