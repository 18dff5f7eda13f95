package locks

import (
	"fmt"
	"runtime"
	"strings"
)

// A program that drops a Lease without Release leaves the lock held until the client is closed. The garbage collector
// notices that: nothing in this package refers to a Lease, and what the package keeps of a leaseState leads to no
// Lease.
//
//	program ─┬─────────────────► Lease ──► leaseState ──► grant, recipe
//	         └► leaseContext ────►│            │ ▲
//	               │              │            │ └── member, in the grant
//	               └► context inside ◄── follower
//
// A context that package context makes from a lease's context refers to that, and is known to the context inside until
// it is canceled. So a lease with such a context is not reported, nor is the parent of a lease that was acquired with
// its context, until that one has ended.
//
// The lock is never released here: what it guards may still run.

// reportDrop has the log say when the program loses the lease. Its last step is what a program can see of the lease: no
// lease that is still in the hands of this package is reported.
func (l *Lease) reportDrop() {
	if l.recipe.opts.Callers {
		var all [32]uintptr
		l.callers = append([]uintptr(nil), all[:runtime.Callers(2, all[:])]...)
	}
	l.drop = runtime.AddCleanup(l, (*leaseState).dropped, l.leaseState)
}

// dropped runs on a goroutine that all cleanups of the process share, and does not block: the client's log has a queue.
// It does not compare the time: a lease whose time is up ends by its own timer.
//
// Release of the last reference cannot race with it: Release keeps the Lease until released is set.
func (l *leaseState) dropped() {
	l.mu.Lock()
	over := l.ended || l.released
	l.mu.Unlock()
	if !over {
		l.recipe.holds.dropped(l)
	}
}

// caller names the innermost function outside this module's recipes.
func caller(callers []uintptr) string {
	for frames := runtime.CallersFrames(callers); ; {
		frame, more := frames.Next()
		if !more || !ofRecipe(frame.Function) {
			return fmt.Sprintf("%s (%s:%d)", frame.Function, frame.File, frame.Line)
		}
	}
}

const recipes = "github.com/gocurator/curator/recipes/"

// ofRecipe reports whether a function stands between a program and this package.
func ofRecipe(function string) bool {
	rest, ok := strings.CutPrefix(function, recipes)
	return ok && (strings.HasPrefix(rest, "locks.") || strings.HasPrefix(rest, "leader.") || strings.HasPrefix(rest, "internal/"))
}
