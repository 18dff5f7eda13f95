package counters

import (
	"context"
	"errors"
	"fmt"
	"path"
	"slices"
	"time"

	"github.com/go-zookeeper/zk"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/framework/session"
	"github.com/gocurator/curator/retry"
)

// mostTries is how often a write is sent whose answers are lost: for some four seconds, and reconnections.
const mostTries = 10

// write replaces what was seen by data, if nothing was written since. It is executed once at most, however often its
// answer is lost: each try has the same condition.
//
//	A        reads version 7, value 41, and sends "42, if the version is 7". The connection breaks.
//	server   has executed that, or will, or never does.
//	A        sends the same again, on the next connection or in the next session. Either it succeeds: no earlier try was
//	         executed, for the version would be 8, and none will be, for it is 8 now. Or it is refused: a write has
//	         moved the version on, A's or B's, and no try of A's will be executed from now on.
//	A        reads what the write has left: see judge.
//
// So a try that a server executes late, after its connection has ended, changes nothing: no fence and no session is
// needed for that. A server could execute it only if the node was deleted, created again, and is at version 7 again.
//
// If seen says that there is no node, write makes it, on the condition that there is none. Then zk.ErrNoNode says that
// the parent is missing.
func (c *counter[T]) write(ctx context.Context, op string, seen node, data []byte) (outcome, error) {
	ops, refusal := setIf(c.path, data, seen.version), zk.ErrBadVersion
	if seen.missing() {
		ops, refusal = []framework.Op{framework.CreateOp(c.path, data)}, zk.ErrNodeExists
	}
	stat, lost, err := c.send(ctx, ops)
	switch {
	case err == nil && (seen.missing() || stat.Czxid == seen.czxid):
		return written, nil
	case err == nil:
		return 0, c.unknown(op, lost, errors.New("the node was deleted and created again before the write"))
	case lost == nil && (errors.Is(err, refusal) || !seen.missing() && errors.Is(err, zk.ErrNoNode)):
		return passed, nil
	case lost == nil: // the path of a transaction is "/"
		return 0, fmt.Errorf("counters: %s at %q: %w", op, c.path, err)
	case !errors.Is(err, refusal):
		return 0, c.unknown(op, lost, err)
	}
	now, err := look(ctx, c.client, c.path)
	if err != nil || judge(seen, now, data) == undecided {
		return 0, c.unknown(op, lost, err)
	}
	return passed, nil
}

// setIf sets a node's data if it has a version. A node that was written to 2³² times can come to version -1, which
// ZooKeeper takes for any. Then the version afterwards shows what it was before.
func setIf(path string, data []byte, version int32) []framework.Op {
	set := framework.SetOp(path, data, version)
	if version != -1 {
		return []framework.Op{set}
	}
	return setIfAnyLeaves(set, path, 0)
}

// setIfAnyLeaves does set, of any version, if the node is then at the given one.
func setIfAnyLeaves(set framework.Op, path string, version int32) []framework.Op {
	return []framework.Op{set, framework.CheckOp(path, version)}
}

// send has the servers execute a transaction that they refuse once it was executed, or its condition has ceased to
// hold. When the answer is lost it is sent again, soon: the fewer writes come between, the more the node shows.
//
// If it fails, lost is why it may have been executed nevertheless: by a try before the last one, or by that. If lost is
// nil it was not.
func (c *counter[T]) send(ctx context.Context, ops []framework.Op) (stat *zk.Stat, lost, err error) {
	var pace retry.Pace
	for tries := 1; ; tries++ {
		began := time.Now()
		results, err := c.client.Transaction(ctx, ops...)
		switch {
		case err == nil:
			return results[0].Stat, lost, nil
		case unexecuted(err):
			return nil, lost, err
		}
		if lost == nil {
			lost = err
		}
		if !answerLost(err) || tries == mostTries || pace.Wait(ctx, time.Since(began)) != nil {
			return nil, lost, err
		}
	}
}

// unexecuted reports whether err proves that a transaction was not executed. The client itself tries one again only
// while that is certain: the failure of its retries proves it.
func unexecuted(err error) bool {
	var refused *framework.TransactionError
	var retried *retry.Error
	return errors.As(err, &refused) || errors.As(err, &retried) || session.Outage(err) || errors.Is(err, framework.ErrClosed) ||
		errors.Is(err, framework.ErrNoChroot) || errors.Is(err, framework.ErrAuthRefused)
}

// answerLost reports whether the connection broke before the answer, and the next one may bring it.
func answerLost(err error) bool {
	return errors.Is(err, framework.ErrConnectionLost) || errors.Is(err, zk.ErrConnectionClosed)
}

func (c *counter[T]) unknown(op string, reasons ...error) error {
	return fmt.Errorf("%w: %s at %q: %w", ErrUnknown, op, c.path, session.JoinErrors(slices.Compact(reasons)...))
}

// makeParent makes the node above the counter, in answer to a creation that failed for want of it. It may be that of
// the client's namespace.
func (c *counter[T]) makeParent(ctx context.Context, failure error) error {
	absolute, _ := c.client.AbsolutePath(c.path) // the path is good: the servers have answered about it
	root := c.client.NonNamespaceView()
	parent := path.Dir(root.RelativePath(absolute))
	if parent == "/" {
		return failure // the chroot is gone
	}
	_, _, err := root.Create(ctx, parent, []byte{}, framework.WithMode(framework.Container), framework.CreatingParentContainersIfNeeded())
	if errors.Is(err, framework.ErrUnsupported) { // before ZooKeeper 3.5
		_, _, err = root.Create(ctx, parent, []byte{}, framework.CreatingParentContainersIfNeeded())
	}
	if errors.Is(err, zk.ErrNodeExists) {
		return nil
	}
	return err
}
