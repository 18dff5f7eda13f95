package locks

import (
	"errors"
	"testing"
)

// The lease has left its hold, and does not know that it has ended. The other lease of the hold hands the node over.
func TestCheckOfALeaseThatIsBeingReleasedFailsInTheNextHold(t *testing.T) {
	inHandoverTest(t, func(t *handoverTest) {
		outer := t.acquire()
		inner, err := t.mutex.Acquire(outer.Context(t.Context()))
		if err != nil {
			t.Fatal(err)
		}
		waiter := t.begin(t.Context())
		if last, err := inner.grant.Leave(member{inner.leaseState}); last || err != nil {
			t.Fatal(last, err)
		}
		t.release(outer)
		next := t.get(waiter)
		if next.NodeName() != outer.NodeName() {
			t.Fatalf("got node %s after %s, want the same one", next.NodeName(), outer.NodeName())
		}
		if _, err := t.client.Transaction(t.Context(), inner.Check()); !errors.Is(err, ErrReleased) {
			t.Errorf("got %v in the next hold, want %v", err, ErrReleased)
		}
		t.release(next)
		inner.end(inner.errReleased())
	})
}

// A lease that has ended needs nothing of the node: others of its hold may still have it handed over.
func TestCheckOfAReleasedLeaseDoesNotSpendTheNode(t *testing.T) {
	inHandoverTest(t, func(t *handoverTest) {
		outer := t.acquire()
		inner, err := t.mutex.Acquire(outer.Context(t.Context()))
		if err != nil {
			t.Fatal(err)
		}
		waiter := t.begin(t.Context())
		t.release(inner)
		_ = inner.Check() // its transaction fails
		t.release(outer)
		next := t.get(waiter)
		if next.FencingCount() != 1 {
			t.Errorf("got count %d, want 1: the node is handed over", next.FencingCount())
		}
		t.release(next)
	})
}
