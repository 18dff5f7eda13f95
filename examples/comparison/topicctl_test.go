package comparison_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/go-zookeeper/zk"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/framework/zktest"
	"github.com/gocurator/curator/recipes/locks"
)

const topic = "/topicctl/locks/orders"

// topicctlBefore is topicctl's acquire with a context: Lock cannot be ended, so it goes on in the background.
func topicctlBefore(ctx context.Context, conn *zk.Conn) (*zk.Lock, error) {
	lock := zk.NewLock(conn, topic, everybody)
	locked := make(chan error, 1)
	go func() { locked <- lock.Lock() }()
	select {
	case <-ctx.Done():
		return nil, ctx.Err()
	case err := <-locked:
		return lock, err
	}
}

func topicctlAfter(ctx context.Context, client *framework.Client) (*locks.Lease, error) {
	return locks.NewInterProcessMutex(client, topic).Acquire(ctx)
}

func TestTopicctlTakesALockAfterItsContextHasEnded(t *testing.T) {
	zktest.Bubble(t, func(t *testing.T) {
		server := zktest.New(t)
		a, _ := newPeer(t, server).goZookeeper()
		b, _ := newPeer(t, server).goZookeeper()
		c, _ := newPeer(t, server).goZookeeper()
		held, err := topicctlBefore(t.Context(), a)
		must(t, err)
		short, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
		defer cancel()
		if _, err := topicctlBefore(short, b); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("b: got %v, want %v", err, context.DeadlineExceeded)
		}
		must(t, held.Unlock())

		long, cancel := context.WithTimeout(t.Context(), time.Hour)
		defer cancel()
		if _, err := topicctlBefore(long, c); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("c, while b's process lives: got %v, want %v", err, context.DeadlineExceeded)
		}
		byNumber := func(a, b string) int { return strings.Compare(a[len(a)-10:], b[len(b)-10:]) }
		first, _ := server.Stat(topic + "/" + slices.MinFunc(server.Children(topic), byNumber))
		if first.EphemeralOwner != b.SessionID() {
			t.Errorf("got the first node of session %#x, want b's, %#x", first.EphemeralOwner, b.SessionID())
		}
	})
}

func TestTopicctlMovedLeavesNoNodeWhenItsContextEnds(t *testing.T) {
	zktest.Bubble(t, func(t *testing.T) {
		server := zktest.New(t)
		a, b, c := newPeer(t, server).curator(), newPeer(t, server).curator(), newPeer(t, server).curator()
		held, err := topicctlAfter(t.Context(), a)
		must(t, err)
		short, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
		defer cancel()
		if _, err := topicctlAfter(short, b); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("b: got %v, want %v", err, context.DeadlineExceeded)
		}
		must(t, held.Release())

		began := time.Now()
		next, err := topicctlAfter(t.Context(), c)
		must(t, err)
		if waited := time.Since(began); waited != 0 {
			t.Errorf("c: got the lock after %v, want it at once", waited)
		}
		if nodes := server.Children(topic); len(nodes) != 1 || nodes[0] != next.NodeName() {
			t.Errorf("got the nodes %q, want c's alone, %q", nodes, next.NodeName())
		}
		must(t, next.Release())
	})
}
