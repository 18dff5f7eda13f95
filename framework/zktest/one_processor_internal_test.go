package zktest

import (
	"runtime"
	"sync"
	"testing"
	"time"
)

func TestABubbleHasOneProcessorUnderTheRaceDetector(t *testing.T) {
	before := runtime.GOMAXPROCS(3) // whatever the machine has
	defer runtime.GOMAXPROCS(before)
	within := 3
	if raceDetector {
		within = 1
	}
	check := func(when string, want int) {
		t.Helper()
		if got := runtime.GOMAXPROCS(0); got != want {
			t.Errorf("%s: got %d processors, want %d", when, got, want)
		}
	}
	Bubble(t, func(*testing.T) { check("in a bubble", within) })
	check("after it", 3)

	first, second := useOneProcessor(), useOneProcessor()
	check("in two bubbles", within)
	first()
	check("in the second, after the first", within)
	second()
	check("after both", 3)

	t.Run("skipped", func(t *testing.T) {
		Bubble(t, func(t *testing.T) { t.SkipNow() })
	})
	check("after a bubble whose goroutine has exited", 3)
}

// Timers that fire at once, on goroutines and on the bubble's clock. On several
// processors the race detector crashes within a second.
func TestTheRaceDetectorOutlastsTimersOfABubble(t *testing.T) {
	for range 200 {
		Bubble(t, func(*testing.T) {
			var group sync.WaitGroup
			for range 8 {
				group.Go(func() {
					due := time.NewTimer(time.Second)
					for range 20 {
						due.Reset(0)
						<-due.C
						fired := make(chan struct{})
						time.AfterFunc(time.Second, func() { close(fired) })
						<-fired
					}
				})
			}
			group.Wait()
		})
	}
}
