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
//     time: a goroutine waits for the network or for a mutex. The minutes are
//     counted in looks from outside the bubble, a second apart, so that neither
//     a busy machine nor a stopped process ends a test that is only slow;
//   - or the process has used processors for 30 s within one second of virtual
//     time, and ten of those looks: a goroutine spins. Tests that run in
//     parallel count together, since only the process's time can be known.
//
// A test that needs more than a day has to use synctest.Test itself.
//
// Under the race detector the process uses one processor meanwhile: on several,
// the timers of a bubble may crash the detector.
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
	defer useOneProcessor()()
	newWatchdog(limits{virtual: 24 * time.Hour, looks: 300, busyLooks: 10, cpu: 30 * time.Second}).run(t, time.Second, test)
}

// limits are what a bubble may not exceed.
type limits struct {
	virtual   time.Duration // how much virtual time may pass
	looks     int           // how many in a row may see virtual time stand still
	busyLooks int           // the same, if the process has used cpu between them
	cpu       time.Duration
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
	seen := progress{limits: w.limits, cpu: cpuTime()}
	for {
		select {
		case end := <-ended:
			end.resume()
			return
		case <-w.expired:
			bark(t, fmt.Sprintf("%v of virtual time have passed in its bubble", w.limits.virtual))
		case <-looks.C:
			virtual := time.Duration(w.virtual.Load())
			switch seen.look(virtual, cpuTime()) {
			case hangsIdle:
				bark(t, fmt.Sprintf("%v of real time have passed within a second of its bubble, at virtual time %v",
					time.Duration(w.looks)*interval, virtual))
			case hangsBusy:
				bark(t, fmt.Sprintf("%v of processor time were used within a second of its bubble, at virtual time %v",
					w.cpu, virtual))
			case moves:
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
	runtime.GOMAXPROCS(1) // the runtime has no stack of a goroutine that runs on another processor
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
	virtual time.Duration // when it looked last
	idle    int           // looks in a row that saw the same virtual time
	cpu     time.Duration // what the process had used when virtual time moved last
}

type movement string

const (
	moves     movement = "moves" // time moves, or has not stood still for long
	hangsIdle movement = "waits for something outside"
	hangsBusy movement = "spins"
)

// look takes the virtual time and what the process has used, and says whether time has stood still for too long.
func (p *progress) look(virtual, cpu time.Duration) movement {
	if virtual != p.virtual {
		p.virtual, p.idle, p.cpu = virtual, 0, cpu
		return moves
	}
	p.idle++
	switch {
	case cpu-p.cpu >= p.limits.cpu && p.idle >= p.busyLooks:
		return hangsBusy
	case p.idle >= p.looks:
		return hangsIdle
	}
	return moves
}
