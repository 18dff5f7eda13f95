package locks

import (
	"fmt"

	"github.com/gocurator/curator/framework/session"
	"github.com/gocurator/curator/recipes/internal/queue"
)

// A lock prints its kind, its path, and how often this client holds it and waits for it. Without these methods package
// fmt would read fields of the client and of a SharedCount while they change.

type standing struct{ held, waiting int }

func (r *recipe) standing(contenders *queue.Queue, accept func(*queue.Grant) bool) standing {
	if r.misuse() != nil { // there may be no client
		return standing{}
	}
	at := standing{
		held:    r.queue.Registry.Grants(r.id, accept),
		waiting: contenders.CountWaiting(),
	}
	if !contenders.Shared {
		at.waiting += localWaiters(r.client, r.id)
	}
	return at
}

func (s standing) String() string {
	if s == (standing{}) {
		return ""
	}
	return fmt.Sprintf(" (held here: %d, waiting here: %d)", s.held, s.waiting)
}

// String names the lock, and how often this client holds it and waits for it.
func (m *InterProcessMutex) String() string {
	return fmt.Sprintf("mutex %q%v", m.recipe.path, m.recipe.standing(m.recipe.queue, anyGrant))
}

// Format is String by every verb.
func (m *InterProcessMutex) Format(f fmt.State, verb rune) { session.Format(f, verb, m) }

func (l *ReadLock) String() string {
	return fmt.Sprintf("read lock %q%v", l.recipe.path, l.recipe.standing(l.recipe.queue, sharedGrant))
}

// Format is String by every verb.
func (l *ReadLock) Format(f fmt.State, verb rune) { session.Format(f, verb, l) }

func (l *WriteLock) String() string {
	return fmt.Sprintf("write lock %q%v", l.recipe.path, l.recipe.standing(l.recipe.queue, exclusiveGrant))
}

// Format is String by every verb.
func (l *WriteLock) Format(f fmt.State, verb rune) { session.Format(f, verb, l) }

// String is like [InterProcessMutex.String], of both sides.
func (l *InterProcessReadWriteLock) String() string {
	at, write := l.read.recipe.standing(l.read.recipe.queue, anyGrant), l.write.recipe.standing(l.write.recipe.queue, anyGrant)
	at.waiting += write.waiting
	return fmt.Sprintf("read/write lock %q%v", l.read.recipe.path, at)
}

// Format is String by every verb.
func (l *InterProcessReadWriteLock) Format(f fmt.State, verb rune) { session.Format(f, verb, l) }

func (s *InterProcessSemaphoreV2) String() string {
	return fmt.Sprintf("semaphore %q%v", s.recipe.path, s.standing())
}

func (s *InterProcessSemaphoreV2) standing() standing { return s.recipe.standing(s.gate, anyGrant) }

// Format is String by every verb.
func (s *InterProcessSemaphoreV2) Format(f fmt.State, verb rune) { session.Format(f, verb, s) }

func (m *InterProcessSemaphoreMutex) String() string {
	return fmt.Sprintf("semaphore mutex %q%v", m.made().recipe.path, m.made().standing())
}

// Format is String by every verb.
func (m *InterProcessSemaphoreMutex) Format(f fmt.State, verb rune) { session.Format(f, verb, m) }

func (m *InterProcessMultiLock) String() string { return fmt.Sprintf("multi-lock of %v", m.locks) }

// Format is String by every verb.
func (m *InterProcessMultiLock) Format(f fmt.State, verb rune) { session.Format(f, verb, m) }

func (t *TimedLock) String() string { return fmt.Sprintf("%v within %v", t.lock, t.d) }

// Format is String by every verb.
func (t *TimedLock) Format(f fmt.State, verb rune) { session.Format(f, verb, t) }
