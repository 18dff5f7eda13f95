package locks_test

import (
	"testing"
	"time"

	"github.com/gocurator/curator/framework/zktest"
	"github.com/gocurator/curator/recipes/locks"
)

// The next hold begins while the client waits for the answer to its removal.
func TestAHoldIsMeasuredUntilItsLeaseEndsNotUntilItsNodeIsGone(t *testing.T) {
	inBubble(t, func(t *testing.T, server *zktest.Server) {
		p := newPeer(t, server)
		released := make(chan locks.Released, 1)
		lease, err := locks.NewInterProcessMutex(p.Client, "/lock", locks.WithTrace(locks.Trace{
			Released: func(r locks.Released) { released <- r },
		})).Acquire(t.Context())
		must(t, err)
		p.cable.SetLatency(100 * time.Millisecond)
		time.Sleep(time.Second)
		must(t, lease.Release())
		if got := <-released; got.Held != time.Second {
			t.Errorf("got a hold of %v, want %v", got.Held, time.Second)
		}
	})
}
