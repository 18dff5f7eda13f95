package locks

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/framework/zktest"
	"github.com/gocurator/curator/recipes/shared"
)

// The session may cease to be valid between the grants of one batch. What was granted by then goes back, with its node
// and its hold.
func TestABatchThatWasAdmittedInPartGivesBackWhatItHad(t *testing.T) {
	zktest.Bubble(t, func(t *testing.T) {
		server := zktest.New(t)
		client, err := framework.NewClient("zktest:2181", framework.WithDialer(server.DialContext))
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = client.Close() }()
		session, err := client.Session(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		s := NewInterProcessSemaphoreV2(client, "/s", 3)
		gate, err := s.enterGate(t.Context(), session)
		if err != nil {
			t.Fatal(err)
		}
		defer gate.Leave()
		b := batch{semaphore: s, session: session, gate: gate}
		for range 3 {
			if err := b.add(t.Context()); err != nil {
				t.Fatal(err)
			}
		}
		for _, c := range b.members[:2] {
			if err := c.Admit(); err != nil || c.Grant == nil {
				t.Fatalf("%v, %v", c.Grant, err)
			}
		}
		if !s.IsAcquiredInThisProcess() {
			t.Fatal("got a semaphore that is not held with two grants, want it held")
		}
		b.leave()
		if s.IsAcquiredInThisProcess() {
			t.Error("got a semaphore that is held after its grants were given back, want it free")
		}
		time.Sleep(time.Second)
		if left := server.Children("/s/leases"); len(left) != 0 {
			t.Errorf("there are still %q", left)
		}
		for _, c := range b.members[:2] {
			if err := c.Grant.Err(); err == nil {
				t.Error("got a grant that lasts after it was given back, want it ended")
			}
		}
		if n := server.WatchCount(); n > 0 {
			t.Errorf("%d watches are left", n)
		}
	})
}

// The nodes of a batch were granted, and one is removed before the leases are made.
func TestABatchThatLosesAGrantBeforeItsLeasesGivesBackTheOthers(t *testing.T) {
	inHandoverTest(t, func(t *handoverTest) {
		s := NewInterProcessSemaphoreV2(t.client, "/s", 3)
		session, err := t.client.Session(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		grants, _, err := s.contend(t.Context(), session, 3)
		if err != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Second) // the nodes are watched
		if err := t.server.Delete(grants[1].Node); err != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Second)
		if leases, err := s.recipe.joinAll(t.Context(), grants); leases != nil || !errors.Is(err, ErrLeaseLost) {
			t.Errorf("got %v, %v; want no leases, and the loss of one", leases, err)
		}
		if left := t.server.Children("/s/leases"); len(left) != 0 {
			t.Errorf("got nodes %q, want none", left)
		}
	})
}

func TestAWaitForLeasesHearsOfItsLimitUntilItEnds(t *testing.T) {
	inHandoverTest(t, func(t *handoverTest) {
		semaphore := NewInterProcessSemaphoreV2(t.client, "/s", 1)
		listens := 0
		semaphore.recipe.onLimit = func(func()) (stop func()) {
			listens++
			return func() { listens-- }
		}
		lease, err := semaphore.Acquire(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithCancel(t.Context())
		ended := make(chan error, 1)
		go func() {
			_, err := semaphore.Acquire(ctx)
			ended <- err
		}()
		synctest.Wait()
		if listens != 1 {
			t.Errorf("got %d functions that hear of the limit of a wait, want 1", listens)
		}
		cancel()
		if err := <-ended; !errors.Is(err, context.Canceled) || listens != 0 {
			t.Errorf("got %v and %d functions that hear of the limit, want %v and none", err, listens, context.Canceled)
		}
		t.release(lease)
	})
}

// inBatchTest has a batch of one node, under a limit of 1 whose count another client follows.
func inBatchTest(t *testing.T, test func(t *handoverTest, b *batch, limits *zktest.Link)) {
	inHandoverTest(t, func(t *handoverTest) {
		limits := t.server.NewLink()
		other, err := framework.NewClient("zktest:2181", framework.WithDialer(limits.DialContext))
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = other.Close() }()
		count := shared.NewSharedCount(other, "/limit", 1)
		if err := count.Start(t.Context()); err != nil {
			t.Fatal(err)
		}
		defer func() { _ = count.Close() }()
		s := NewInterProcessSemaphoreV2WithCount(t.client, "/s", count)
		session, err := t.client.Session(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		gate, err := s.enterGate(t.Context(), session)
		if err != nil {
			t.Fatal(err)
		}
		defer gate.Leave()
		b := &batch{semaphore: s, session: session, gate: gate}
		defer b.leave()
		if err := b.add(t.Context()); err != nil {
			t.Fatal(err)
		}
		test(t, b, limits)
	})
}

// The limit is lowered while the leases are listed, and its client is cut off.
func TestABatchGoesByALimitThatIsAsNewAsItsListing(t *testing.T) {
	inBatchTest(t, func(t *handoverTest, b *batch, limits *zktest.Link) {
		b.listing = nil
		goOn := t.server.HoldRequest(zktest.Match{Op: zktest.OpGetChildren2, Path: "/s/leases"})
		decided := make(chan bool, 1)
		go func() {
			permitted, err := b.permitted(t.Context())
			if err != nil {
				t.Error(err)
			}
			decided <- permitted
		}()
		synctest.Wait()
		limits.Cut()
		synctest.Wait()
		if err := t.server.SetData("/limit", []byte{0, 0, 0, 0}); err != nil {
			t.Fatal(err)
		}
		goOn()
		synctest.Wait()
		limits.Heal()
		if <-decided {
			t.Error("got a lease under a limit of 0, want none")
		}
	})
}

// The session lapses before the lease is granted.
func TestABatchDecidesAgainAfterALapse(t *testing.T) {
	inBatchTest(t, func(t *handoverTest, b *batch, _ *zktest.Link) {
		t.link.Mute()
		time.Sleep(time.Until(b.session.ValidUntil()) + time.Millisecond)
		again := errors.New("decided again")
		ended := make(chan error, 1)
		go func() {
			_, err := b.admit(t.Context(), func(context.Context) error { return again })
			ended <- err
		}()
		synctest.Wait()
		t.link.Heal()
		if err := <-ended; !errors.Is(err, again) {
			t.Errorf("got %v, want another decision", err)
		}
	})
}
