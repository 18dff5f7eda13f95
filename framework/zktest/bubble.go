package zktest

import (
	"fmt"
	"runtime"
	"runtime/debug"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
)

// Bubble runs test in a bubble, as [synctest.Test] does, under a watchdog: a
// test that hangs fails by its own name, and not when the time for the whole
// package is up. A bubble hangs if
//
//   - a day of its virtual time has passed. That is also how a deadlock ends:
//     when all goroutines are blocked, the watchdog's timer is the only one
//     left. So is a loop that waits for what never comes;
//   - or five minutes of real time have passed within one second of virtual
//     time: a goroutine spins, or waits for the network or for a mutex. The
//     minutes are counted in looks from outside the bubble, a second apart, so
//     that neither a busy machine nor a stopped process ends a test that is
//     only slow.
//
// A test that needs more than a day has to use synctest.Test itself.
//
// When a bubble hangs, Bubble panics on the test's goroutine with the test's name, and the
// stacks of all goroutines are printed. The tests after it do not run, since
// nothing can end the goroutines of a bubble that hangs.
//
// Bubble blocks until all goroutines of the bubble have ended. As with
// synctest.Test, test gets a T of its own, whose cleanups run in the bubble,
// must not call its Run, Parallel and Deadline, and fails t if it fails.
func Bubble(t *testing.T, test func(t *testing.T)) {
	t.Helper()
	newWatchdog(limits{virtual: 24 * time.Hour, looks: 300}).run(t, time.Second, test)
}

// limits are what a bubble may not exceed.
type limits struct {
	virtual time.Duration // of virtual time
	looks   int           // in a row that saw virtual time stand still
}

// virtualStep is how often a bubble notes its time.
const virtualStep = time.Second

type watchdog struct {
	limits
	virtual atomic.Int64  // nanoseconds since the bubble's start
	expired chan struct{} // closed when virtual time is up
	frozen  chan struct{} // never closed; made outside of the bubble, so that waiting for it stops the bubble's time
}

func newWatchdog(l limits) *watchdog {
	return &watchdog{limits: l, expired: make(chan struct{}), frozen: make(chan struct{})}
}

// run has the bubble on another goroutine and watches it from this one, looking
// after each interval of real time.
func (w *watchdog) run(t *testing.T, interval time.Duration, test func(t *testing.T)) {
	t.Helper()
	ended := make(chan ending, 1)
	go func() {
		end := ending{exited: true}
		defer func() {
			end.panicked = recover()
			ended <- end
		}()
		synctest.Test(t, func(t *testing.T) {
			w.tick(time.Now())
			test(t)
		})
		end.exited = false
	}()
	looks := time.NewTicker(interval)
	defer looks.Stop()
	seen := progress{most: w.looks}
	for {
		select {
		case end := <-ended:
			end.resume()
			return
		case <-w.expired:
			bark(t, fmt.Sprintf("%v of virtual time have passed in its bubble", w.limits.virtual))
		case <-looks.C:
			if seen.look(time.Duration(w.virtual.Load())) {
				bark(t, fmt.Sprintf("%v of real time have passed within a second of its bubble, at virtual time %v",
					time.Duration(w.looks)*interval, time.Duration(w.virtual.Load())))
			}
		}
	}
}

// tick notes the bubble's time, and does it again later. It needs no goroutine,
// and no end: a bubble that has ended runs no timers.
func (w *watchdog) tick(start time.Time) {
	passed := time.Since(start)
	w.virtual.Store(int64(passed))
	if passed >= w.limits.virtual {
		close(w.expired)
		<-w.frozen // the stacks show the bubble at this time
	}
	time.AfterFunc(virtualStep, func() { w.tick(start) })
}

// bark ends the process as go test's -timeout does, but on the test's own
// goroutine: so the testing package reports that this test has failed.
func bark(t *testing.T, what string) {
	t.Helper()
	debug.SetTraceback("all")
	panic("zktest: " + t.Name() + " hangs: " + what)
}

// ending is how a bubble ended.
type ending struct {
	exited   bool // by runtime.Goexit, as FailNow does, or by a panic
	panicked any
}

// resume ends this goroutine in the same way.
func (e ending) resume() {
	switch {
	case e.panicked != nil:
		panic(e.panicked)
	case e.exited:
		runtime.Goexit()
	}
}

// progress is what the watchdog has seen of a bubble.
type progress struct {
	most    int           // looks at one virtual time that are still no hang
	virtual time.Duration // when it looked last
	idle    int           // looks since that saw the same
}

// look takes the virtual time, and reports whether it has stood still for too long.
func (p *progress) look(virtual time.Duration) (hangs bool) {
	if virtual == p.virtual {
		p.idle++
	} else {
		p.virtual, p.idle = virtual, 0
	}
	return p.idle >= p.most
}
