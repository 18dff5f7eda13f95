package locks_test

import (
	"errors"
	"math"
	"testing"

	"github.com/gocurator/curator/framework/zktest"
	"github.com/gocurator/curator/recipes/locks"
)

// At the end of a directory's counter all newcomers get the same number. Whoever came later must not be let in beside the holder,
// nor wait for somebody who waits for him.
func TestNobodyIsLetInBesideAHolderWithTheSameNumber(t *testing.T) {
	inBubble(t, func(t *testing.T, _ *zktest.Server) {
		server := zktest.New(t, zktest.WithEndingCounters())
		holder, late := newPeer(t, server), newPeer(t, server)
		release(t, acquire(t, holder.mutex()))
		server.SetCreateCounter(path, math.MaxInt32)
		lease := acquire(t, holder.mutex())
		for range 2 {
			if _, err := late.mutex().Acquire(t.Context()); !errors.Is(err, locks.ErrNoMoreNumbers) {
				t.Errorf("behind a holder: got %v, want ErrNoMoreNumbers", err)
			}
			if _, err := late.mutex().TryAcquire(t.Context()); !errors.Is(err, locks.ErrNotAcquired) && !errors.Is(err, locks.ErrNoMoreNumbers) {
				t.Errorf("trying behind a holder: got %v", err)
			}
		}
		if err := lease.Err(); err != nil {
			t.Errorf("the holder lost its lease: %v", err)
		}
		release(t, lease)
		release(t, acquire(t, late.mutex()))
	})
}
