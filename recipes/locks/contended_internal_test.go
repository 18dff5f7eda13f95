package locks

import "testing"

func TestALeaseHearsOfItsLimitUntilItEnds(t *testing.T) {
	inHandoverTest(t, func(t *handoverTest) {
		semaphore := NewInterProcessSemaphoreV2(t.client, "/semaphore", 1)
		listens := 0
		semaphore.recipe.onLimit = func(func()) (stop func()) {
			listens++
			return func() { listens-- }
		}
		lease, err := semaphore.Acquire(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if lease.Contended(); listens != 1 {
			t.Errorf("got %d functions that hear of the limit of a lease, want 1", listens)
		}
		if t.release(lease); listens != 0 {
			t.Errorf("got %d functions that hear of the limit of an ended lease, want none", listens)
		}
		lease, err = semaphore.Acquire(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		t.release(lease)
		if lease.Contended(); listens != 0 {
			t.Errorf("got %d functions that hear of the limit, of a lease that was asked after its end, want none", listens)
		}
	})
}
