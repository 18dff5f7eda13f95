package lockstest

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/recipes/locks"
)

// In real time a law presupposes that clients keep what the law leaves to them. A machine that stands still for most of
// a session takes a lease, or the whole session, from a client to which the law has done nothing. Then the servers let
// the next contender in, and the law finds one inside who should wait. Such a course has judged nothing, so the law is
// run again, on a path of its own.
//
// That must hide no fault. A course counts for nothing only if a client suffered a loss that the law did not cause, and
// if the machine was measured to stand still. What must hold on any machine is judged in every course, which is
// exclusion, the journal, and that nothing stays.

// mostCourses is how often a law is run at most.
const mostCourses = 10

// runInRealTime runs a law until a course of it passes or is judged.
func runInRealTime(t *testing.T, server Server, recipe Recipe, law law) {
	t.Helper()
	for n := 1; ; n++ {
		c := &course{TB: t}
		stalls, w := watchMachine(server), c.run(server, recipe, law)
		stall := stalls()
		switch {
		case c.skipped != "" && !c.failed:
			t.Skip(c.skipped)
		case !c.failed:
			return
		case n < mostCourses && c.isVoid(w.robbed.Load(), stall, server.SessionTimeout()):
			t.Logf("course %d judged nothing: the machine stood still for %v, so a client lost what it held: %q", n, stall, c.failures)
			continue
		}
		for _, failure := range c.failures {
			t.Error(failure)
		}
		t.Fail() // also for a failure without a text
		return
	}
}

// isVoid reports whether the failures of a course say nothing of the lock, since the machine robbed a client.
func (c *course) isVoid(robbed bool, stall, sessionTimeout time.Duration) bool {
	return !c.violated && robbed && stall >= sessionTimeout/8
}

// watchMachine measures how long this process and the server stand still, until the result is called. That returns the
// longest time.
func watchMachine(server Server) (longest func() time.Duration) {
	stop, worst := make(chan struct{}), make(chan time.Duration)
	go func() {
		most := time.Duration(0)
		for {
			begun := time.Now()
			const pause = 20 * time.Millisecond
			select {
			case <-stop:
				worst <- most
				return
			case <-time.After(pause):
			}
			server.Stat("/") // its answer is no matter
			most = max(most, time.Since(begun)-pause)
		}
	}()
	return func() time.Duration {
		close(stop)
		return <-worst
	}
}

// A course is what a law takes for its test. It keeps failures until it is known whether they count.
type course struct {
	testing.TB
	ctx context.Context

	mu       sync.Mutex
	failures []string
	failed   bool
	violated bool // a failure counts on any machine
	skipped  string
	cleanups []func()
}

// run runs the law and what it leaves to the end, on goroutines that FailNow can end.
func (c *course) run(server Server, recipe Recipe, law law) (w *world) {
	ctx, cancel := context.WithCancel(c.TB.Context())
	c.ctx = ctx
	w = newWorld(c, server, recipe, false)
	alone(func() { law.run(c, w) })
	cancel()
	for len(c.cleanups) > 0 {
		last := len(c.cleanups) - 1
		end := c.cleanups[last]
		c.cleanups = c.cleanups[:last]
		alone(end)
	}
	return w
}

// alone runs a function on a goroutine of its own, and waits for its end.
func alone(do func()) {
	var wg sync.WaitGroup
	wg.Go(do)
	wg.Wait()
}

// violated says that the next failure is of what holds on any machine.
func violated(t testing.TB) {
	if c, ok := t.(*course); ok {
		c.mu.Lock()
		defer c.mu.Unlock()
		c.violated = true
	}
}

func (c *course) fail(text string) {
	var pcs [20]uintptr
	frames := runtime.CallersFrames(pcs[:runtime.Callers(3, pcs[:])])
	var at []string
	for {
		frame, more := frames.Next()
		if strings.Contains(frame.Function, "lockstest.") && !strings.Contains(frame.Function, "(*course)") {
			at = append(at, fmt.Sprintf("%s:%d", filepath.Base(frame.File), frame.Line))
		}
		if !more {
			break
		}
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.failed = true
	c.failures = append(c.failures, fmt.Sprintf("%s (%s)", text, strings.Join(at, ", from ")))
}

// What follows is as testing.T has it.

func (c *course) Context() context.Context  { return c.ctx }
func (c *course) Error(args ...any)         { c.fail(line(args)) }
func (c *course) Errorf(f string, a ...any) { c.fail(fmt.Sprintf(f, a...)) }
func (c *course) FailNow()                  { c.Fail(); runtime.Goexit() }
func (c *course) Fatal(args ...any)         { c.fail(line(args)); runtime.Goexit() }
func (c *course) Fatalf(f string, a ...any) { c.fail(fmt.Sprintf(f, a...)); runtime.Goexit() }
func (c *course) Skipf(f string, a ...any)  { c.Skip(fmt.Sprintf(f, a...)) }
func (c *course) SkipNow()                  { c.Skip("skipped") }
func (c *course) Skipped() bool             { return c.skipped != "" }

func (c *course) Cleanup(f func()) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.cleanups = append(c.cleanups, f)
}

func (c *course) Fail() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.failed = true
}

func (c *course) Failed() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.failed
}

func (c *course) Skip(args ...any) {
	c.skipped = line(args)
	runtime.Goexit()
}

func line(args []any) string { return strings.TrimSuffix(fmt.Sprintln(args...), "\n") }

// guard notes a lease that ends although the law has done nothing to its client.
func (c *contact) guard(lease *locks.Lease, session int64) {
	<-lease.Done()
	err := lease.Err()
	if !c.link.isDisturbed(session) && (errors.Is(err, framework.ErrNotRenewed) || errors.Is(err, framework.ErrSessionLost)) {
		c.w.robbed.Store(true)
	}
}

// disturb notes that what comes next is done to all clients.
func (w *world) disturb() {
	for _, c := range w.contacts {
		c.link.disturb()
	}
}
