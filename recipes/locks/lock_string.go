package locks

import "fmt"

// Every lock prints its kind and its path. Without these methods package fmt would read the fields of its client and of
// its SharedCount, which change meanwhile.

// String names the lock.
func (m *InterProcessMutex) String() string { return fmt.Sprintf("mutex %q", m.recipe.path) }

// GoString is String.
func (m *InterProcessMutex) GoString() string { return m.String() }

// String names the lock.
func (l *ReadLock) String() string { return fmt.Sprintf("read lock %q", l.recipe.path) }

// GoString is String.
func (l *ReadLock) GoString() string { return l.String() }

// String names the lock.
func (l *WriteLock) String() string { return fmt.Sprintf("write lock %q", l.recipe.path) }

// GoString is String.
func (l *WriteLock) GoString() string { return l.String() }

// String names the lock.
func (l *InterProcessReadWriteLock) String() string {
	return fmt.Sprintf("read/write lock %q", l.read.recipe.path)
}

// GoString is String.
func (l *InterProcessReadWriteLock) GoString() string { return l.String() }

// String names the semaphore.
func (s *InterProcessSemaphoreV2) String() string { return fmt.Sprintf("semaphore %q", s.recipe.path) }

// GoString is String.
func (s *InterProcessSemaphoreV2) GoString() string { return s.String() }

// String names the lock.
func (m *InterProcessSemaphoreMutex) String() string {
	return fmt.Sprintf("semaphore mutex %q", m.semaphore.recipe.path)
}

// GoString is String.
func (m *InterProcessSemaphoreMutex) GoString() string { return m.String() }

// String names the locks.
func (m *InterProcessMultiLock) String() string { return fmt.Sprintf("multi-lock of %v", m.locks) }

// GoString is String.
func (m *InterProcessMultiLock) GoString() string { return m.String() }

func (w *within) String() string   { return fmt.Sprintf("%v within %v", w.lock, w.d) }
func (w *within) GoString() string { return w.String() }
