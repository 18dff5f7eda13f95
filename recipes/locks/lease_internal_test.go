package locks

import (
	"context"
	"errors"
	"testing"
)

func TestALeaseKeepsFewOfTheContextsThatEndBeforeIt(t *testing.T) {
	inHandoverTest(t, func(t *handoverTest) {
		lease := t.acquire()
		var lasting []context.Context
		for i := range 1000 {
			ctx, cancel := context.WithCancel(t.Context())
			work := lease.Context(ctx)
			if i%100 == 0 {
				defer cancel()
				lasting = append(lasting, work)
			} else {
				cancel()
			}
		}
		if got, most := len(lease.followers), 4*len(lasting); got > most {
			t.Errorf("got %d contexts that the lease keeps, %d of them last, want at most %d", got, len(lasting), most)
		}
		if err := lease.Release(); err != nil {
			t.Fatal(err)
		}
		for i, work := range lasting {
			if got := context.Cause(work); !errors.Is(got, ErrReleased) {
				t.Errorf("context %d: got cause %v, want %v", i, got, ErrReleased)
			}
		}
	})
}
