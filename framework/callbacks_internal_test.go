package framework

import (
	"runtime"
	"slices"
	"testing"
	"testing/synctest"

	"github.com/gocurator/curator/framework/zktest"
)

func TestCallbacksGoOnAfterOneHasEndedItsGoroutine(t *testing.T) {
	zktest.Bubble(t, func(t *testing.T) {
		var c callbacks
		var called []int
		c.push(func() {
			called = append(called, 1)
			runtime.Goexit()
		})
		c.push(func() { called = append(called, 2) })
		synctest.Wait()
		if want := []int{1, 2}; !slices.Equal(called, want) {
			t.Errorf("called %v, want %v", called, want)
		}
	})
}

func TestCallbacksReportWhatWasDroppedAtItsPlace(t *testing.T) {
	zktest.Bubble(t, func(t *testing.T) {
		var called []int
		c := callbacks{limit: 2, dropped: func(count int) func() { return func() { called = append(called, -count) } }}
		say := func(n int) func() { return func() { called = append(called, n) } }
		goOn := make(chan struct{})
		c.push(func() { <-goOn })
		synctest.Wait()
		for n := range 5 {
			c.push(say(n))
		}
		c.pushAlways(say(5))
		c.push(say(6))
		close(goOn)
		c.wait(nil)
		if want := []int{0, 1, -3, 5, -1}; !slices.Equal(called, want) {
			t.Errorf("called %v, want %v", called, want)
		}
	})
}
