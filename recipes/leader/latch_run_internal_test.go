package leader

import (
	"context"
	"errors"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/framework/zktest"
	"github.com/gocurator/curator/recipes/locks"
)

// inLatchTest runs a test in a bubble, with a client of a server in memory.
func inLatchTest(t *testing.T, test func(t *testing.T, client *framework.Client)) {
	t.Helper()
	zktest.Bubble(t, func(t *testing.T) {
		client, err := framework.NewClient("zktest:2181", framework.WithDialer(zktest.New(t).DialContext))
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = client.Close() }()
		test(t, client)
	})
}

// Close has ended the latch, and the term ended before it was the latch's: the term's own call found none to end.
func TestListenersHearOfTheEndOfATermThatEndedBeforeItBegan(t *testing.T) {
	inLatchTest(t, func(t *testing.T, client *framework.Client) {
		l := NewLeaderLatch(client, "/leaders")
		var heard []bool // whether the latch leads
		l.OnChange(func(term *locks.Lease) { heard = append(heard, term != nil) })
		term, err := l.lock.Acquire(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if err := term.Release(); err != nil {
			t.Fatal(err)
		}
		stopped, stop := context.WithCancel(t.Context())
		stop()
		l.lead(stopped, term)
		synctest.Wait()
		if want := []bool{true, false}; !slices.Equal(heard, want) || l.term != nil {
			t.Errorf("heard %v, and the present term is %v; want %v, and none", heard, l.term, want)
		}
	})
}

// A Start that failed has left the latch as it was, also if it got a term whose removal was not confirmed, or its
// campaign was refused. The latch then waits behind another until it is closed.
func TestAStartThatFailedLeavesNoErrorToAwaitAndClose(t *testing.T) {
	inLatchTest(t, func(t *testing.T, client *framework.Client) {
		first := NewLeaderLatch(client, "/leaders")
		if err := first.Start(t.Context()); err != nil {
			t.Fatal(err)
		}
		defer func() { _ = first.Close() }()
		l := NewLeaderLatch(client, "/leaders")
		late, cancel := context.WithDeadline(t.Context(), time.Now())
		defer cancel()
		if err := l.Start(late); !errors.Is(err, context.DeadlineExceeded) {
			t.Fatalf("got %v, want %v", err, context.DeadlineExceeded)
		}
		l.left = &locks.ReleaseError{Path: "/leaders", Node: "n", Err: context.DeadlineExceeded}
		l.failed = errors.New("refused")
		if err := l.Start(t.Context()); err != nil {
			t.Fatal(err)
		}
		if _, err := l.Await(late); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("got %v of a latch that waits, want %v", err, context.DeadlineExceeded)
		}
		if err := l.Close(); err != nil {
			t.Errorf("got %v of a latch that has not led, want nil", err)
		}
	})
}

// A Start that was given up when its node had just come has left the news of that.
func TestStartDoesNotEndByTheNewsOfAnEarlierStart(t *testing.T) {
	zktest.Bubble(t, func(t *testing.T) {
		link := zktest.New(t).NewLink()
		link.Mute()
		client, err := framework.NewClient("zktest:2181", framework.WithDialer(link.DialContext))
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = client.Close() }()
		l := NewLeaderLatch(client, "/leaders")
		late, cancel := context.WithDeadline(t.Context(), time.Now())
		defer cancel()
		for range 20 { // both are there: a select takes either
			l.stood.Signal()
			if err := l.Start(late); !errors.Is(err, context.DeadlineExceeded) {
				t.Fatalf("got %v of a Start without a server, want %v", err, context.DeadlineExceeded)
			}
		}
	})
}
