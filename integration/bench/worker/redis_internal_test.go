package worker

import "testing"

// A key that an ended acquire left on one server of three keeps nothing taken: another contender gets the other two.
func TestLockIsTakenIfMostServersHaveItsKey(t *testing.T) {
	for _, c := range []struct {
		found, servers int
		want           bool
	}{{0, 1, false}, {1, 1, true}, {1, 3, false}, {2, 3, true}, {3, 3, true}} {
		if got := most(c.found, c.servers); got != c.want {
			t.Errorf("a key on %d of %d servers: got taken %t, want %t", c.found, c.servers, got, c.want)
		}
	}
}
