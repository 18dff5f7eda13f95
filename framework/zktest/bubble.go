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
// test that hangs fails by its own name, within a minute, and not when the
// time for the whole package is up. A bubble hangs if
//
//   - a day of its virtual time has passed. That is also how a deadlock ends:
//     when all goroutines are blocked, the watchdog's timer is the only one
//     left. So is a loop that waits for what never comes;
//   - or a minute of real time has passed without a step. A step is a second of
//     virtual time, or a request that a Server executed, but at most a million
//     requests within one second of virtual time. A goroutine that spins makes
//     no step, nor does one that waits for the network or for a mutex. The
//     minute is counted in looks from outside the bubble, a second apart, so
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
	newWatchdog(limits{virtual: 24 * time.Hour, looks: 60, requests: 1_000_000}).run(t, time.Second, test)
}

// limits are what a bubble may not exceed.
type limits struct {
	virtual  time.Duration // of virtual time
	looks    int           // in a row that saw no step
	requests int64         // that are steps, while virtual time stands still
}

// virtualStep is how often a bubble notes its time.
const virtualStep = time.Second

// executed counts the requests of all servers of this process. A server does
// not know in whose bubble it is; what other tests do at the same time can only
// make the watchdog wait longer, or at worst count to its million sooner.
var executed atomic.Int64

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
	seen := progress{limits: w.limits}
	seen.look(0, executed.Load())
	for {
		select {
		case end := <-ended:
			end.resume()
			return
		case <-w.expired:
			bark(t, fmt.Sprintf("%v of virtual time have passed in its bubble", w.limits.virtual))
		case <-looks.C:
			if seen.look(time.Duration(w.virtual.Load()), executed.Load()) {
				bark(t, fmt.Sprintf("%v of real time have passed without a step in its bubble, at virtual time %v",
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
	limits
	virtual  time.Duration // when it looked last
	requests int64         // likewise
	before   int64         // the requests before virtual time came to where it is
	idle     int           // looks without a step since
}

// look takes what there is to see now, and reports whether there was no step
// for too long.
func (p *progress) look(virtual time.Duration, requests int64) (hangs bool) {
	moved := virtual != p.virtual
	if moved {
		p.before = p.requests
	}
	if moved || requests != p.requests && requests-p.before <= p.limits.requests {
		p.idle = 0
	} else {
		p.idle++
	}
	p.virtual, p.requests = virtual, requests
	return p.idle >= p.looks
}
