package listen_test

import (
	"runtime"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/gocurator/curator/framework/listen"
	"github.com/gocurator/curator/framework/zktest"
)

// A listener is a function that blocks until it may go on, and remembers its values.
type listener struct {
	goOn chan struct{}

	mu      sync.Mutex
	heard   []int
	running int
	most    int // calls at one time
}

func newListener() *listener { return &listener{goOn: make(chan struct{})} }

func (l *listener) hear(value int) {
	l.mu.Lock()
	l.heard = append(l.heard, value)
	l.running++
	l.most = max(l.most, l.running)
	l.mu.Unlock()
	<-l.goOn
	l.mu.Lock()
	l.running--
	l.mu.Unlock()
}

func (l *listener) want(t *testing.T, want ...int) {
	t.Helper()
	synctest.Wait()
	l.mu.Lock()
	defer l.mu.Unlock()
	if !slices.Equal(l.heard, want) || l.most > 1 {
		t.Errorf("got calls with %v, %d at one time; want %v, one at a time", l.heard, l.most, want)
	}
}

func TestQueueOfEveryValueCallsWithEachInOrder(t *testing.T) {
	zktest.Bubble(t, func(t *testing.T) {
		l := newListener()
		q := listen.Every(l.hear)
		for i := range 5 {
			q.Push(i)
		}
		l.want(t, 0)
		close(l.goOn)
		l.want(t, 0, 1, 2, 3, 4)
		q.Push(5) // the goroutine has ended
		l.want(t, 0, 1, 2, 3, 4, 5)
	})
}

func TestQueueOfTheNewestValueSkipsOlderOnesThatWait(t *testing.T) {
	zktest.Bubble(t, func(t *testing.T) {
		l := newListener()
		q := listen.Newest(l.hear)
		q.Push(0)
		l.want(t, 0)
		for i := range 5 {
			q.Push(i)
		}
		l.goOn <- struct{}{}
		l.want(t, 0, 4)
		q.Push(5)
		q.Push(6)
		close(l.goOn)
		l.want(t, 0, 4, 6)
	})
}

func TestBoundedQueueReportsWhatWasDroppedAtItsPlace(t *testing.T) {
	zktest.Bubble(t, func(t *testing.T) {
		l := newListener()
		q := listen.Bounded(2, func(count int) int { return -count }, l.hear)
		q.Push(100)
		l.want(t, 100)
		for i := range 5 {
			q.Push(i)
		}
		q.PushAlways(5)
		q.Push(6)
		close(l.goOn)
		l.want(t, 100, 0, 1, -3, 5, -1)
	})
}

func TestQueueGoesOnAfterACallHasEndedItsGoroutine(t *testing.T) {
	zktest.Bubble(t, func(t *testing.T) {
		var called []int
		q := listen.Every(func(value int) {
			called = append(called, value)
			time.Sleep(time.Second)
			if value == 1 {
				runtime.Goexit()
			}
		})
		q.Push(1)
		q.Push(2)
		begun := time.Now()
		q.Wait(nil)
		if want := []int{1, 2}; !slices.Equal(called, want) || time.Since(begun) != 2*time.Second {
			t.Errorf("got calls with %v after %v, want %v, one after the other, and Wait until then", called, time.Since(begun), want)
		}
	})
}

func TestCloseEndsAllCallsButTheOneThatRuns(t *testing.T) {
	zktest.Bubble(t, func(t *testing.T) {
		l := newListener()
		q := listen.Bounded(1, func(count int) int { return -count }, l.hear)
		q.Push(0)
		synctest.Wait()
		q.Push(1)
		q.Push(2) // is dropped, and not reported any more
		q.Close()
		q.Push(3)
		close(l.goOn)
		q.Wait(nil)
		q.PushAlways(4)
		l.want(t, 0)
	})
}

func TestWaitEndsWithTheCallsOrWhenItIsEnough(t *testing.T) {
	zktest.Bubble(t, func(t *testing.T) {
		l := newListener()
		q := listen.Every(l.hear)
		q.Wait(nil) // nothing waits
		q.Push(0)
		enough := make(chan struct{})
		time.AfterFunc(time.Second, func() { close(enough) })
		begun := time.Now()
		q.Wait(enough)
		if took := time.Since(begun); took != time.Second {
			t.Errorf("got Wait back after %v, want it after 1s, while the call blocks", took)
		}
		close(l.goOn)
		q.Wait(nil)
		l.want(t, 0)
	})
}

// The goroutine ends again and again while others push.
func TestNoValueIsLostWhenTheGoroutineEnds(t *testing.T) {
	zktest.Bubble(t, func(t *testing.T) {
		const pushers, each = 4, 20000
		called, atOnce, most := 0, 0, 0 // guarded by the order of the calls, as the race detector sees
		q := listen.Every(func(int) {
			atOnce++
			most = max(most, atOnce)
			called++
			atOnce--
		})
		var pushing sync.WaitGroup
		for range pushers {
			pushing.Go(func() {
				for i := range each {
					q.Push(i)
					if i%3 == 0 {
						runtime.Gosched()
					}
				}
			})
		}
		pushing.Wait()
		synctest.Wait()
		q.Wait(nil)
		if called != pushers*each || most != 1 {
			t.Errorf("got %d calls, %d at one time; want %d, one at a time", called, most, pushers*each)
		}
	})
}
