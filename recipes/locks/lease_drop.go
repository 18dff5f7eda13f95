package locks

import (
	"fmt"
	"runtime"
	"strings"
)

// A program that drops a Lease without Release leaves the lock held until the client is closed. The garbage collector
// notices that, because nothing in this package leads to a Lease:
//
//	program ─┬─────────────────► Lease ──► leaseState ──► grant, recipe
//	         └► leaseContext ────►│            │ ▲
//	               │              │            │ └── member, in the grant
//	               └► context inside ◄── follower
//
// The context inside knows the contexts that are made from a lease's context until they are canceled. Until then such a
// lease is not reported, nor is the parent of a lease that was acquired with its context.
//
// The lock is never released here, because what it guards may still run.

// reportDrop has the log say when the program drops the lease. It runs last, so that no lease is reported before the
// program has it.
func (l *Lease) reportDrop() {
	if l.recipe.opts.Callers {
		var all [32]uintptr
		l.callers = append([]uintptr(nil), all[:runtime.Callers(2, all[:])]...)
	}
	l.drop = runtime.AddCleanup(l, (*leaseState).dropped, l.leaseState)
}

// dropped runs on a goroutine that all cleanups of the process share. It does not block, because the client's log has a
// queue. A lease whose time is up ends by its own timer.
//
// It cannot race with Release, which keeps the Lease until released is set.
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
