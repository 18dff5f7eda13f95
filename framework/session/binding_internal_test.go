package session

import (
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/gocurator/curator/framework/zktest"
)

// After a suspension both times are up at once: a goroutine that asks a binding for Err ends the term, and while it is
// telling the bindings the clock ends the session, and finds no term.
func TestDoneWaitsForHoldsThatAnotherGoroutineEnds(t *testing.T) {
	zktest.Bubble(t, func(t *testing.T) {
		s, owner := unconnected()
		start := s.clock.Now()
		s.onAttached(attachedAt(start))
		goOn := make(chan struct{})
		const holds = 3
		ended := 0
		var h *Binding
		for range holds {
			var err error
			if h, err = s.Bind(func(error) { <-goOn; ended++ }, nil); err != nil {
				t.Fatal(err)
			}
		}
		time.Sleep(2 * oneTimeout)
		go func() { _ = h.Err() }()
		synctest.Wait()
		go s.tick(start.Add(2 * oneTimeout))
		synctest.Wait()
		select {
		case <-s.Done():
			t.Error("Done is closed while another goroutine is still telling the bindings")
		default:
		}
		if want := []string{"attached"}; !slices.Equal(owner.events, want) {
			t.Errorf("the owner was told %v, want %v", owner.events, want)
		}
		close(goOn)
		<-s.Done()
		if ended != holds {
			t.Errorf("Done is closed, and %d of %d holds have ended", ended, holds)
		}
		synctest.Wait()
		if want := []string{"attached", "over"}; !slices.Equal(owner.events, want) {
			t.Errorf("the owner was told %v, want %v", owner.events, want)
		}
	})
}
