package history_test

import (
	"slices"
	"testing"

	"github.com/gocurator/curator/examples/zklock/internal/history"
)

// kazoo's semaphore at /l/s has leases without a number at /l/s, and a lock that admits to them at /l/s-__lock__.
func TestOfKazoosSemaphoreTheQueueIsRead(t *testing.T) {
	const lease, waiter = "s/0123456789abcdef012345", "s-__lock__/0123456789abcdef0123456789abcdef__lock__"
	all := replay(
		"create 1 "+waiter+"00", "create 1 "+lease+"01", "delete 1 "+waiter+"00",
		"create 2 "+waiter+"01", "create 3 "+waiter+"02", "delete 1 "+lease+"01", "create 2 "+lease+"02", "delete 2 "+waiter+"01",
	)
	h := history.Of("/l", slices.Values(all), history.Options{})
	if len(h.Locks) != 1 || h.Locks[0].Path != "/l/s-__lock__" || h.Locks[0].Kind != "kazoo" || len(h.Locks[0].Contenders) != 3 {
		t.Fatalf("got %+v, want the queue of 3 alone", h.Locks)
	}
	for i, want := range [][3]int64{{1, 1, 3}, {4, 4, 8}, {5, 8, 0}} {
		c := h.Locks[0].Contenders[i]
		if got := [3]int64{c.Queued.Zxid, c.LetIn.Zxid, c.Ended.Zxid}; got != want {
			t.Errorf("contender %d: got %v, want %v", i, got, want)
		}
	}
}
