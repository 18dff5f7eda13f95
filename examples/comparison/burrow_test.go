package comparison_test

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-zookeeper/zk"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/framework/zktest"
	"github.com/gocurator/curator/recipes/leader"
)

const notifier = "/burrow/notifier"

// burrowBefore is the loop of Burrow's notifier: one process evaluates, until its session expires.
func burrowBefore(ctx context.Context, conn *zk.Conn, events <-chan zk.Event, evaluate func(ctx context.Context) error) error {
	lock := zk.NewLock(conn, notifier, everybody)
	for {
		if err := lock.Lock(); err != nil {
			time.Sleep(100 * time.Millisecond) // it logs the error
			continue
		}
		term, stop := context.WithCancel(ctx)
		go evaluate(term)
		awaitState(events, zk.StateExpired)
		stop()
		awaitState(events, zk.StateHasSession)
		if err := lock.Unlock(); err != nil {
			return fmt.Errorf("unable to release the lock after the session has expired: %w", err) // Burrow panics
		}
	}
}

func awaitState(events <-chan zk.Event, state zk.State) {
	for event := range events {
		if event.State == state {
			return
		}
	}
}

func burrowAfter(ctx context.Context, client *framework.Client, evaluate func(ctx context.Context) error) error {
	return leader.NewLeaderSelector(client, notifier).Run(ctx, evaluate)
}

// evaluations counts the terms in which a notifier evaluates: those that have begun, and those under way.
type evaluations struct{ begun, running int }

func (e *evaluations) evaluate(ctx context.Context) error {
	e.begun++
	e.running++
	<-ctx.Done()
	e.running--
	return context.Cause(ctx)
}

func (e *evaluations) want(t *testing.T, when string, begun, running int) {
	t.Helper()
	synctest.Wait()
	if *e != (evaluations{begun, running}) {
		t.Errorf("%s: got %d terms, %d of them under way, want %d and %d", when, e.begun, e.running, begun, running)
	}
}

func TestBurrowCannotLockAgainAfterAnExpiry(t *testing.T) {
	zktest.Bubble(t, func(t *testing.T) {
		server := zktest.New(t)
		conn, events := newPeer(t, server).goZookeeper()
		var done evaluations
		ended := make(chan error, 1)
		go func() { ended <- burrowBefore(t.Context(), conn, events, done.evaluate) }()
		done.want(t, "at the start", 1, 1)

		server.ExpireSession(conn.SessionID())
		time.Sleep(time.Hour)
		done.want(t, "an hour after the expiry", 1, 0)
		select {
		case err := <-ended:
			if !errors.Is(err, zk.ErrNoNode) {
				t.Errorf("got the end %v, want %v", err, zk.ErrNoNode)
			}
		default:
			t.Error("got a loop that goes on, want its end")
		}
	})
}

// What a program meets that logs the error of Unlock in place of a panic.
func TestGoZookeepersLockIsNeverLockedAgainAfterAnExpiry(t *testing.T) {
	zktest.Bubble(t, func(t *testing.T) {
		server := zktest.New(t)
		conn, events := newPeer(t, server).goZookeeper()
		lock := zk.NewLock(conn, notifier, everybody)
		must(t, lock.Lock())
		server.ExpireSession(conn.SessionID())
		awaitState(events, zk.StateExpired)
		awaitState(events, zk.StateHasSession)
		for range 3 {
			if err := lock.Unlock(); !errors.Is(err, zk.ErrNoNode) {
				t.Errorf("Unlock: got %v, want %v", err, zk.ErrNoNode)
			}
			if err := lock.Lock(); !errors.Is(err, zk.ErrDeadlock) {
				t.Errorf("Lock: got %v, want %v", err, zk.ErrDeadlock)
			}
			time.Sleep(time.Hour)
		}
		if nodes := server.Children(notifier); len(nodes) != 0 {
			t.Errorf("got %q, want a lock that is free all the while", nodes)
		}
	})
}

func TestBurrowMovedLeadsAgainAfterEachExpiry(t *testing.T) {
	zktest.Bubble(t, func(t *testing.T) {
		server := zktest.New(t)
		client := newPeer(t, server).curator()
		var done evaluations
		ctx, stop := context.WithCancel(t.Context())
		ended := make(chan error, 1)
		go func() { ended <- burrowAfter(ctx, client, done.evaluate) }()
		done.want(t, "at the start", 1, 1)

		for expiry := range 5 {
			server.ExpireSession(server.Sessions()[0].ID)
			time.Sleep(2 * time.Second)
			done.want(t, fmt.Sprint("after expiry ", expiry+1), expiry+2, 1)
		}
		stop()
		if err := <-ended; !errors.Is(err, context.Canceled) {
			t.Errorf("Run: got %v, want %v", err, context.Canceled)
		}
	})
}

// Both stand in one queue, so that a fleet moves one process after the other.
func TestBurrowMovedQueuesWithBurrow(t *testing.T) {
	zktest.Bubble(t, func(t *testing.T) {
		server := zktest.New(t)
		conn, events := newPeer(t, server).goZookeeper()
		client := newPeer(t, server).curator()
		var before, after evaluations
		go burrowBefore(t.Context(), conn, events, before.evaluate)
		before.want(t, "Burrow at the start", 1, 1)
		go burrowAfter(t.Context(), client, after.evaluate)
		time.Sleep(time.Hour)
		after.want(t, "moved, while Burrow evaluates", 0, 0)

		server.ExpireSession(conn.SessionID())
		time.Sleep(time.Second)
		before.want(t, "Burrow after its expiry", 1, 0)
		after.want(t, "moved, after Burrow's expiry", 1, 1)
	})
}
