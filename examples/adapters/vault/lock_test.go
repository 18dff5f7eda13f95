package vaultlock_test

import (
	"context"
	"errors"
	"net"
	"testing"
	"time"

	"github.com/hashicorp/vault/sdk/physical"

	vaultlock "github.com/gocurator/curator/examples/adapters/vault"
	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/framework/zktest"
)

const (
	timeout = 20 * time.Second // the session timeout
	key     = "core/lock"
	node    = "/vault/key-core%2Flock"
)

// A locker is the part of the shape that Consul's lock and libkv's have.
type locker interface {
	Lock(stop <-chan struct{}) (<-chan struct{}, error)
	Unlock() error
}

var _ locker = (*vaultlock.Lock)(nil)

func backend(t *testing.T, dial func(ctx context.Context, network, address string) (net.Conn, error)) *vaultlock.Backend {
	t.Helper()
	client, err := framework.NewClient("any:2181", framework.WithDialer(dial), framework.WithSessionTimeout(timeout))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = client.Close() })
	return vaultlock.New(t.Context(), client, "/vault")
}

func lockWith(t *testing.T, b physical.HABackend, value string) physical.Lock {
	t.Helper()
	lock, err := b.LockWith(key, value)
	if err != nil {
		t.Fatal(err)
	}
	return lock
}

// hold locks it, and fails the test if that takes more than a minute.
func hold(t *testing.T, lock physical.Lock) (lost <-chan struct{}) {
	t.Helper()
	stop := make(chan struct{})
	late := time.AfterFunc(time.Minute, func() { close(stop) })
	defer late.Stop()
	lost, err := lock.Lock(stop)
	if lost == nil || err != nil {
		t.Fatalf("Lock: got %v, %v, want a lock within a minute", lost, err)
	}
	return lost
}

func unlock(t *testing.T, lock physical.Lock) {
	t.Helper()
	if err := lock.Unlock(); err != nil {
		t.Errorf("Unlock: got %v, want nil", err)
	}
}

func isClosed(c <-chan struct{}) bool {
	select {
	case <-c:
		return true
	default:
		return false
	}
}

func wantValue(t *testing.T, lock physical.Lock, held bool, value string) {
	t.Helper()
	if h, v, err := lock.Value(); h != held || v != value || err != nil {
		t.Errorf("Value: got %t, %q, %v, want %t, %q", h, v, err, held, value)
	}
}

func TestBackendPassesTheExercisesThatVaultHasForBackends(t *testing.T) {
	zktest.Bubble(t, func(t *testing.T) {
		zk := zktest.New(t)
		one, other := backend(t, zk.DialContext), backend(t, zk.DialContext)
		if !one.HAEnabled() {
			t.Error("HAEnabled: got false, want true")
		}
		physical.ExerciseHABackend(t, one, other)
		if got := zk.Children(node); len(got) != 0 {
			t.Errorf("the exercises left the nodes %v, want none", got)
		}
	})
}

func TestLostIsClosedBeforeAnotherProcessHoldsTheLock(t *testing.T) {
	zktest.Bubble(t, func(t *testing.T) {
		zk := zktest.New(t)
		link := zk.NewLink()
		first, second := lockWith(t, backend(t, link.DialContext), "a"), lockWith(t, backend(t, zk.DialContext), "b")
		lost := hold(t, first)
		time.Sleep(time.Hour) // leases are renewed
		if isClosed(lost) {
			t.Fatal("the lock was lost within an hour, want it held")
		}
		link.Cut()
		next, err := second.Lock(nil)
		inTime := isClosed(lost)
		if next == nil || err != nil {
			t.Fatalf("the second process: got %v, %v, want the lock", next, err)
		}
		if !inTime {
			t.Error("the second process has the lock, and the first was not notified")
		}
		wantValue(t, second, true, "b")
		unlock(t, first) // a loss is no error
		link.Heal()
		unlock(t, second)
		again := hold(t, first) // after a loss, it can be locked again
		wantValue(t, second, true, "a")
		unlock(t, first)
		if !isClosed(again) {
			t.Error("Unlock did not close the channel, want it closed")
		}
	})
}

func TestLockWhoseSessionExpiresIsLostAndCanBeLockedWithoutUnlock(t *testing.T) {
	zktest.Bubble(t, func(t *testing.T) {
		zk := zktest.New(t)
		lock := lockWith(t, backend(t, zk.DialContext), "a")
		lost := hold(t, lock)
		zk.ExpireSession(zk.Sessions()[0].ID)
		select {
		case <-lost:
		case <-time.After(time.Minute):
			t.Fatal("the loss was not reported within a minute")
		}
		hold(t, lock)
		unlock(t, lock)
	})
}

func TestStopEndsAWaitWithoutAnErrorAndLeavesNoNode(t *testing.T) {
	zktest.Bubble(t, func(t *testing.T) {
		zk := zktest.New(t)
		holder, waiter := lockWith(t, backend(t, zk.DialContext), "a"), lockWith(t, backend(t, zk.DialContext), "b")
		hold(t, holder)
		stop, start := make(chan struct{}), time.Now()
		time.AfterFunc(10*time.Second, func() { close(stop) })
		if lost, err := waiter.Lock(stop); lost != nil || err != nil {
			t.Errorf("got %v, %v, want nil, nil", lost, err)
		}
		if took := time.Since(start); took != 10*time.Second {
			t.Errorf("Lock blocked for %v, want 10s", took)
		}
		time.Sleep(time.Second) // the node is removed in the background
		if got := zk.Children(node); len(got) != 1 {
			t.Errorf("the lock has the nodes %v, want the holder's alone", got)
		}
		wantValue(t, waiter, true, "a")
		unlock(t, holder)
		wantValue(t, waiter, false, "")
	})
}

func TestStopThatIsClosedBeforeLockTakesNoFreeLock(t *testing.T) {
	zktest.Bubble(t, func(t *testing.T) {
		lock, stop := lockWith(t, backend(t, zktest.New(t).DialContext), "a"), make(chan struct{})
		close(stop)
		if lost, err := lock.Lock(stop); lost != nil || err != nil {
			t.Errorf("got %v, %v, want nil, nil", lost, err)
		}
	})
}

func TestLockOfALockThatIsHeldOrWaitedForIsErrHeld(t *testing.T) {
	zktest.Bubble(t, func(t *testing.T) {
		b := backend(t, zktest.New(t).DialContext)
		lock, waiter := lockWith(t, b, "a"), lockWith(t, b, "b") // two contenders in one process
		hold(t, lock)
		if lost, err := lock.Lock(nil); lost != nil || !errors.Is(err, vaultlock.ErrHeld) {
			t.Errorf("held: got %v, %v, want ErrHeld", lost, err)
		}
		got := make(chan (<-chan struct{}))
		go func() {
			lost, _ := waiter.Lock(nil)
			got <- lost
		}()
		time.Sleep(time.Second)
		if lost, err := waiter.Lock(nil); lost != nil || !errors.Is(err, vaultlock.ErrHeld) {
			t.Errorf("waiting: got %v, %v, want ErrHeld", lost, err)
		}
		wantValue(t, waiter, true, "a") // the holder's, not the last contender's
		unlock(t, lock)
		if lost := <-got; lost == nil || isClosed(lost) {
			t.Error("the waiter did not get the lock, want it held")
		}
		unlock(t, waiter)
	})
}

func TestUnlockOfALockThatIsNotLockedDoesNothing(t *testing.T) {
	zktest.Bubble(t, func(t *testing.T) {
		b := backend(t, zktest.New(t).DialContext)
		holder := lockWith(t, b, "a")
		wantValue(t, holder, false, "") // its node does not exist yet
		unlock(t, lockWith(t, b, "b"))
		lost := hold(t, holder)
		unlock(t, lockWith(t, b, "b"))
		if isClosed(lost) {
			t.Error("another lock's Unlock released this one, want it held")
		}
		unlock(t, holder)
		unlock(t, holder)
	})
}

func TestContextOfNewEndsTheWaitWithAnError(t *testing.T) {
	zktest.Bubble(t, func(t *testing.T) {
		client, err := framework.NewClient("any:2181", framework.WithDialer(zktest.New(t).DialContext))
		if err != nil {
			t.Fatal(err)
		}
		defer client.Close()
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		hold(t, lockWith(t, vaultlock.New(t.Context(), client, "/vault"), "a"))
		lost, err := lockWith(t, vaultlock.New(ctx, client, "/vault"), "b").Lock(nil)
		if lost != nil || !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("got %v, %v, want DeadlineExceeded", lost, err)
		}
	})
}

func TestWrongKeyAndWrongValueAreErrors(t *testing.T) {
	zktest.Bubble(t, func(t *testing.T) {
		b := backend(t, zktest.New(t).DialContext)
		if _, err := b.LockWith("", "a"); err == nil {
			t.Error("an empty key: got nil, want an error")
		}
		if _, err := lockWith(t, b, string(make([]byte, 2<<20))).Lock(nil); !errors.Is(err, framework.ErrTooLarge) {
			t.Errorf("a value of 2 MB: got %v, want ErrTooLarge", err)
		}
	})
}
