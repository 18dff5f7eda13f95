package lockstest

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/recipes/locks"
)

func noResidue() []law {
	return []law{
		{name: "G5 no residue/ctx ended before", run: anEndedContextSendsNothing},
		{name: "G5 no residue/ctx ends during the create", run: aContextThatEndsDuringTheCreateLeavesNoNode},
		{name: "G5 no residue/ctx ends while waiting", run: aWaiterThatGivesUpLeavesNoNode},
		{name: "G5 no residue/a deadline passes while waiting", run: aDeadlineLeavesNoNode},
		{name: "G5 no residue/ctx ends without a connection", run: givingUpWithoutAConnectionLeavesNoNode},
		{name: "G5 no residue/a release without a connection", run: aReleaseWithoutAConnectionIsMadeUpFor},
		{name: "G5 no residue/the reply to a release is lost", run: aLostReplyToAReleaseIsNoHarm},
		{name: "G5 no residue/Do fails", run: doReleasesAfterAnError},
		{name: "G5 no residue/Do panics", run: doReleasesAfterAPanic},
		{name: "G5 no residue/parents go after the last child", run: parentsGoAfterTheLastChild},
		{name: "G5 no residue/the parent vanishes again and again", run: aVanishingParentIsMadeAgain},
	}
}

var errStop = errors.New("enough")

func anEndedContextSendsNothing(t testing.TB, w *world) {
	w.record.Silent()
	c := w.client()
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(errStop)
	w.pass(w.server.SessionTimeout() / 100)
	c.link.Requests()
	for _, acquire := range []func(context.Context) (*locks.Lease, error){c.lock().Acquire, c.lock().TryAcquire} {
		if lease, err := acquire(ctx); !errors.Is(err, errStop) {
			t.Errorf("got %v, %v, want the context's cause", lease, err)
		}
	}
	if sent := c.link.Requests(); len(sent) > 0 {
		t.Errorf("it sent %v", sent)
	}
}

func aContextThatEndsDuringTheCreateLeavesNoNode(t testing.TB, w *world) {
	c := w.prepare()
	answer := c.link.HoldReply(Create)
	defer answer()
	a := c.start(c.lock())
	w.until("the node is there", func() bool { return len(w.nodes()) > 0 })
	begun := time.Now()
	a.cancel()
	a.fails(context.Canceled)
	w.soon("giving up", a.at.Sub(begun), w.server.SessionTimeout()/10)
	answer()
	w.untilGone("no node is left", func() bool { return len(w.nodes()) == 0 })
	if err := c.start(c.lock()).get().Release(); err != nil {
		t.Error(err)
	}
}

func aWaiterThatGivesUpLeavesNoNode(t testing.TB, w *world) {
	held := w.client().fill()
	before := w.nodes()
	a := w.client().queue()
	a.cancel()
	a.fails(context.Canceled)
	w.untilGone("its node is gone", func() bool { return len(w.added(before)) == 0 })
	held.release(t)
}

func aDeadlineLeavesNoNode(t testing.TB, w *world) {
	w.client().fill()
	before := w.nodes()
	d := w.server.SessionTimeout() / 10
	w.tries(func() bool {
		ctx, cancel := context.WithTimeout(t.Context(), d)
		defer cancel()
		d = min(2*d, w.server.SessionTimeout())
		_, err := w.client().lock().Acquire(ctx)
		var failed *locks.AcquireError
		if !errors.Is(err, context.DeadlineExceeded) || !errors.As(err, &failed) {
			t.Fatalf("got %v", err)
		}
		stood := failed.Ahead > 0 && (failed.Predecessor != "" || w.recipe.Gated)
		if !stood && !w.exact {
			return false // it may not have come into the queue
		}
		if !stood || failed.OwnClient {
			t.Errorf("the error does not say where it stood: %+v", failed)
		}
		w.untilGone("its node is gone", func() bool { return len(w.added(before)) == 0 })
		return true
	})
}

func givingUpWithoutAConnectionLeavesNoNode(t testing.TB, w *world) {
	held := w.client().fill()
	before := w.nodes()
	c := w.client()
	a := c.queue()
	c.link.Cut()
	b := c.start(c.lock()) // it never gets as far as a node
	w.pass(w.server.SessionTimeout() / 10)
	a.cancel()
	b.cancel()
	begun := time.Now()
	a.fails(context.Canceled)
	b.fails(context.Canceled)
	w.soon("giving up", time.Since(begun), w.server.SessionTimeout()/10)
	c.link.Heal()
	w.untilGone("its node is gone", func() bool { return len(w.added(before)) == 0 })
	held.release(t)
}

func aReleaseWithoutAConnectionIsMadeUpFor(t testing.TB, w *world) {
	timeout := w.server.SessionTimeout()
	w.tries(func() bool {
		c := w.client(framework.WithConnectionTimeout(timeout / 10))
		session := c.session()
		lease := c.start(c.lock()).get()
		ctx := lease.Context(t.Context())
		c.link.Cut()
		begun := time.Now()
		err := lease.Release()
		var failed *locks.ReleaseError
		if !errors.As(err, &failed) {
			t.Fatalf("Release without a connection: %v", err)
		}
		w.soon("the release", time.Since(begun), timeout/2)
		if !errors.Is(lease.Err(), locks.ErrReleased) || !errors.Is(context.Cause(ctx), locks.ErrReleased) {
			t.Errorf("the lease goes on: %v, its context %v", lease.Err(), context.Cause(ctx))
		}
		c.link.Heal()
		w.untilGone("the node is gone", func() bool { return len(w.nodes()) == 0 })
		now := c.session()
		if now != session && w.exact {
			t.Errorf("got session %#x after %#x: the node went with its session, want it removed before", now, session)
		}
		return now == session // the outage may have been too long
	})
}

func aLostReplyToAReleaseIsNoHarm(t testing.TB, w *world) {
	c := w.client()
	lease := c.start(c.lock()).get()
	c.link.DropReply(Delete)
	if err := lease.Release(); err != nil {
		t.Error(err)
	}
	if left := w.nodes(); len(left) > 0 {
		t.Errorf("after Release there is %v", left)
	}
}

func doReleasesAfterAnError(t testing.TB, w *world) {
	err := locks.Do(t.Context(), w.client().lock(), func(context.Context) error { return errStop })
	if !errors.Is(err, errStop) {
		t.Errorf("got %v", err)
	}
	if left := w.nodes(); len(left) > 0 {
		t.Errorf("after Do there is %v", left)
	}
}

func doReleasesAfterAPanic(t testing.TB, w *world) {
	func() {
		defer func() {
			if recover() != errStop {
				t.Error("got no panic, want that of work")
			}
		}()
		_ = locks.Do(t.Context(), w.client().lock(), func(context.Context) error { panic(errStop) })
	}()
	if left := w.nodes(); len(left) > 0 {
		t.Errorf("after the panic there is %v", left)
	}
}

func parentsGoAfterTheLastChild(t testing.TB, w *world) {
	c := w.client()
	if err := c.start(c.lock()).get().Release(); err != nil {
		t.Error(err)
	}
	w.until("the lock's directory is gone", func() bool { return w.server.Stat(w.path) == nil })
}

// The server reaps empty containers at any time, also between their creation and that of the node.
func aVanishingParentIsMadeAgain(t testing.TB, w *world) {
	c := w.client()
	for range 4 {
		if err := c.start(c.lock()).get().Release(); err != nil {
			t.Error(err)
		}
		for _, dir := range append(w.dirs(), w.path) {
			if w.server.Stat(dir) != nil && len(w.server.Children(dir)) == 0 {
				w.server.Delete(dir)
			}
		}
	}
}
