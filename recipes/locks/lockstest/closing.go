package lockstest

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/framework/zktest/await"
	"github.com/gocurator/curator/recipes/locks"
)

func closing() []law {
	return []law{
		{name: "G12 Close is prompt/a waiter", run: closeEndsWaits},
		{name: "G12 Close is prompt/a holder", run: closeEndsLeases},
		{name: "G12 Close is prompt/without a connection", run: closeEndsWaitsWithoutAConnection},
		{name: "G12 Close is prompt/in a create", run: closeEndsACreate},
		{name: "G12 Close is prompt/from a listener", run: closeFromAListener},
	}
}

// closes closes the client, checks that it does not take long, and reports whether the server has confirmed it. In real
// time it may not have: Close waits for that for a second, and the nodes go with the session then.
func (c *contact) closes(t testing.TB) (confirmed bool) {
	t.Helper()
	c.link.disturb()
	begun := time.Now()
	closed := make(chan error, 1)
	go func() { closed <- c.Close() }()
	err := await.Receive(t, c.w.limit(), "Close to return", closed)
	if err != nil && c.w.exact && !c.link.isCut() {
		t.Errorf("Close: %v", err)
	}
	c.w.soon("Close", time.Since(begun), c.w.server.SessionTimeout())
	return err == nil
}

func closeEndsWaits(t testing.TB, w *world) {
	held := w.client().fill()
	before := w.nodes()
	c := w.client()
	a, b := c.queue(), c.queue()
	confirmed := c.closes(t)
	a.fails(framework.ErrClosed)
	b.fails(framework.ErrClosed)
	if left := w.added(before); confirmed && len(left) > 0 {
		t.Errorf("after Close there is %v", left)
	}
	if lease, err := c.lock().Acquire(t.Context()); !errors.Is(err, framework.ErrClosed) {
		t.Errorf("Acquire with a closed client: %v, %v", lease, err)
	}
	if lease, err := c.lock().TryAcquire(t.Context()); !errors.Is(err, framework.ErrClosed) {
		t.Errorf("TryAcquire with a closed client: %v, %v", lease, err)
	}
	held.release(t)
}

func closeEndsLeases(t testing.TB, w *world) {
	c := w.client()
	lease := c.fill()[0]
	ctx := lease.Context(t.Context())
	next := w.client().queue()
	seen := w.watch(lease)
	c.closes(t)
	if err := lease.Err(); !errors.Is(err, locks.ErrLeaseLost) || !errors.Is(err, framework.ErrClosed) {
		t.Errorf("the lease ended with %v", err)
	}
	if cause := context.Cause(ctx); !errors.Is(cause, framework.ErrClosed) {
		t.Errorf("its context ended with %v", cause)
	}
	if err := lease.Release(); !errors.Is(err, locks.ErrLeaseLost) {
		t.Errorf("Release after Close: %v", err)
	}
	next.get()
	<-seen.over
}

func closeEndsWaitsWithoutAConnection(t testing.TB, w *world) {
	held := w.client().fill()
	before := w.nodes()
	c := w.client()
	a := c.queue()
	session := c.session()
	c.link.Cut()
	b := c.start(c.lock())
	c.closes(t)
	a.fails(framework.ErrClosed)
	b.fails(framework.ErrClosed)
	w.record.ExpireSession(c.link, session)
	w.until("its node went with the session", func() bool { return len(w.added(before)) == 0 })
	held.release(t)
}

func closeEndsACreate(t testing.TB, w *world) {
	c := w.prepare()
	defer c.link.HoldReply(Create)()
	a := c.start(c.lock())
	w.until("the node is there", func() bool { return len(w.nodes()) > 0 })
	session := c.session()
	c.link.Cut()
	c.closes(t)
	a.fails(framework.ErrClosed)
	w.record.ExpireSession(c.link, session)
}

func closeFromAListener(t testing.TB, w *world) {
	closed := make(chan error, 1)
	lost := make(chan struct{})
	c := w.client()
	lease := c.fill()[0]
	stop := c.OnStateChange(func(now framework.StateChange) {
		if now.State == framework.StateSuspended {
			closed <- c.Close()
			close(lost)
		}
	})
	defer stop()
	session := c.session()
	c.link.Cut()
	await.Receive(t, w.limit(), "Close to return in a listener", lost)
	<-closed
	if err := lease.Err(); !errors.Is(err, framework.ErrClosed) {
		t.Errorf("the lease ended with %v", err)
	}
	w.record.ExpireSession(c.link, session)
}
