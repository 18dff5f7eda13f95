package locks_test

import (
	"context"
	"errors"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/gocurator/curator/recipes/internal/costtest"
	"github.com/gocurator/curator/recipes/locks"
)

// take acquires a lock, which is released at the end of the test unless it was before.
func take(m *costtest.Meter, lock locks.Lock) *locks.Lease {
	lease, err := lock.Acquire(m.T.Context())
	m.Do(err)
	m.T.Cleanup(func() { _ = lease.Release() })
	return lease
}

// wait acquires a lock on another goroutine, and returns when it waits. Its lease is released at the end of the test.
func wait(m *costtest.Meter, lock func(...locks.Option) locks.Lock) (granted <-chan *locks.Lease) {
	waits, leases := make(chan struct{}), make(chan *locks.Lease, 1)
	var once sync.Once
	waiting := lock(locks.WithTrace(locks.Trace{Waiting: func(context.Context, locks.Waiting) { once.Do(func() { close(waits) }) }}))
	ctx, cancel := context.WithCancel(m.T.Context())
	m.Go(func() {
		if lease, err := waiting.Acquire(ctx); err == nil {
			leases <- lease
			<-ctx.Done()
			_ = lease.Release()
		}
	})
	m.T.Cleanup(func() {
		cancel()
		synctest.Wait()
	})
	<-waits
	return leases
}

// waitBefore has our client wait once for the mutex.
func waitBefore(m *costtest.Meter) {
	held := take(m, rivalMutex(m))
	waiter := wait(m, ours(m))
	synctest.Wait()
	m.Do(held.Release())
	m.Do((<-waiter).Release())
}

// free makes the directories of a lock at path, and returns what acquires it.
func free(m *costtest.Meter, lock locks.Lock, dirs ...string) func() {
	m.Make(append([]string{"/locks", path}, dirs...)...)
	return func() { take(m, lock) }
}

// cycles is a cycle of a lock after so many others.
func cycles(m *costtest.Meter, before int, lock locks.Lock) func() {
	cycle := func() {
		lease, err := lock.Acquire(m.T.Context())
		m.Do(err)
		m.Do(lease.Release())
	}
	for range before {
		cycle()
	}
	return cycle
}

// released is the release of a lock that is held.
func released(m *costtest.Meter, lock locks.Lock) func() {
	lease := take(m, lock)
	return func() { m.Do(lease.Release()) }
}

// reentries are those of an owner.
func reentries(m *costtest.Meter) func() {
	ctx := take(m, ourMutex(m)).Context(m.T.Context())
	lock := ourMutex(m)
	return func() {
		lease, err := lock.Acquire(ctx)
		m.Do(err)
		m.Do(lease.Release())
	}
}

func ourMutex(m *costtest.Meter, opts ...locks.Option) *locks.InterProcessMutex {
	return locks.NewInterProcessMutex(m.Client, path, opts...)
}

func rivalMutex(m *costtest.Meter, opts ...locks.Option) *locks.InterProcessMutex {
	return locks.NewInterProcessMutex(m.Rival(), path, opts...)
}

func ours(m *costtest.Meter) func(...locks.Option) locks.Lock {
	return func(opts ...locks.Option) locks.Lock { return ourMutex(m, opts...) }
}

func rivals(m *costtest.Meter) func(...locks.Option) locks.Lock {
	return func(opts ...locks.Option) locks.Lock { return rivalMutex(m, opts...) }
}

func ourRetained(m *costtest.Meter) *locks.RetainedLock {
	return ourMutex(m).Retained(locks.RetainIdle(time.Second))
}

func leasesOf(m *costtest.Meter, limit int, opts ...locks.Option) *locks.InterProcessSemaphoreV2 {
	return locks.NewInterProcessSemaphoreV2(m.Client, path, limit, opts...)
}

// looked has a semaphore look once whether its path is another recipe's.
func looked(m *costtest.Meter, s *locks.InterProcessSemaphoreV2) *locks.InterProcessSemaphoreV2 {
	cycles(m, 1, s)
	return s
}

func notAcquired(m *costtest.Meter, lock locks.Lock) func() {
	return func() {
		if lease, err := lock.TryAcquire(m.T.Context()); !errors.Is(err, locks.ErrNotAcquired) {
			m.T.Errorf("got %v, %v, want %v", lease, err, locks.ErrNotAcquired)
		}
	}
}

// readersBehindAWriter are 64 of one client. They are let in by the release of another client's writer.
func readersBehindAWriter(m *costtest.Meter) func() {
	writer := take(m, locks.NewInterProcessReadWriteLock(m.Rival(), path).WriteLock())
	readers := manyReaders(m)
	return func() {
		m.Do(writer.Release())
		for _, r := range readers {
			<-r
		}
	}
}

// readersBehindTwoWriters are let in when the first has released, and then the second.
func readersBehindTwoWriters(m *costtest.Meter) func() {
	first := take(m, locks.NewInterProcessReadWriteLock(m.Rival(), path).WriteLock())
	rival := m.Rival()
	second := wait(m, func(opts ...locks.Option) locks.Lock {
		return locks.NewInterProcessReadWriteLock(rival, path, opts...).WriteLock()
	})
	readers := manyReaders(m)
	return func() {
		m.Do(first.Release())
		m.Do((<-second).Release())
		for _, r := range readers {
			<-r
		}
	}
}

// manyReaders are 64 of one client, which wait.
func manyReaders(m *costtest.Meter) (readers []<-chan *locks.Lease) {
	for range 64 {
		readers = append(readers, wait(m, func(opts ...locks.Option) locks.Lock {
			return locks.NewInterProcessReadWriteLock(m.Client, path, opts...).ReadLock()
		}))
	}
	return readers
}

var costs = costtest.Costs{
	"locks.InterProcessMutex: acquire; the directory is missing": func(m *costtest.Meter) func() {
		m.Make("/locks")
		return func() { take(m, ourMutex(m)) }
	},
	"locks.InterProcessMutex: acquire":                                  func(m *costtest.Meter) func() { return free(m, ourMutex(m)) },
	"locks.InterProcessMutex: release a lock that was held for a while": func(m *costtest.Meter) func() { return released(m, ourMutex(m)) },
	"locks.InterProcessMutex: acquire and release, from the ninth time in a row on": func(m *costtest.Meter) func() {
		return cycles(m, 20, ourMutex(m))
	},
	"locks.InterProcessMutex: acquire, and hold for a second": func(m *costtest.Meter) func() {
		acquire := free(m, ourMutex(m))
		return func() {
			acquire()
			m.Pass(time.Second)
		}
	},
	"locks.InterProcessMutex: acquire again, with the lease's context": reentries,
	"locks.InterProcessMutex: try, of a free lock": func(m *costtest.Meter) func() {
		cycles(m, 1, ourMutex(m))
		return func() {
			lease, err := ourMutex(m).TryAcquire(m.T.Context())
			m.Do(err)
			m.T.Cleanup(func() { _ = lease.Release() })
		}
	},
	"locks.InterProcessMutex: try, of a taken lock": func(m *costtest.Meter) func() {
		take(m, rivalMutex(m))
		return notAcquired(m, ourMutex(m))
	},
	"locks.InterProcessMutex: join a queue of one; the client's first wait in the directory": func(m *costtest.Meter) func() {
		take(m, rivalMutex(m))
		return func() { wait(m, ours(m)) }
	},
	"locks.InterProcessMutex: join a queue of one": func(m *costtest.Meter) func() {
		waitBefore(m)
		take(m, rivalMutex(m))
		return func() { wait(m, ours(m)) }
	},
	"locks.InterProcessMutex: join a queue of three clients": func(m *costtest.Meter) func() {
		waitBefore(m)
		take(m, rivalMutex(m))
		wait(m, rivals(m))
		wait(m, rivals(m))
		return func() { wait(m, ours(m)) }
	},
	"locks.InterProcessMutex: get the lock from another client": func(m *costtest.Meter) func() {
		held := take(m, rivalMutex(m))
		waiter := wait(m, ours(m))
		return func() {
			m.Do(held.Release())
			<-waiter
		}
	},
	"locks.InterProcessMutex: get next in line": func(m *costtest.Meter) func() {
		waitBefore(m)
		held := take(m, rivalMutex(m))
		second := wait(m, rivals(m))
		wait(m, ours(m))
		return func() {
			m.Do(held.Release())
			<-second
		}
	},
	"locks.RetainedLock: acquire": func(m *costtest.Meter) func() { return free(m, ourRetained(m)) },
	"locks.RetainedLock: acquire and release again": func(m *costtest.Meter) func() {
		return cycles(m, 5, ourRetained(m))
	},
	"locks.RetainedLock: another client acquires the idle lock": func(m *costtest.Meter) func() {
		cycles(m, 5, ourRetained(m))
		m.Settle()
		rival := rivalMutex(m)
		return func() { take(m, rival) }
	},
	"locks.InterProcessReadWriteLock: acquire and release the read lock": func(m *costtest.Meter) func() {
		return cycles(m, 1, locks.NewInterProcessReadWriteLock(m.Client, path).ReadLock())
	},
	"locks.InterProcessReadWriteLock: acquire and release the write lock": func(m *costtest.Meter) func() {
		return cycles(m, 1, locks.NewInterProcessReadWriteLock(m.Client, path).WriteLock())
	},
	"locks.InterProcessReadWriteLock: acquire the read lock while writing": func(m *costtest.Meter) func() {
		lock := locks.NewInterProcessReadWriteLock(m.Client, path)
		ctx := take(m, lock.WriteLock()).Context(m.T.Context())
		return func() {
			lease, err := lock.ReadLock().Acquire(ctx)
			m.Do(err)
			m.T.Cleanup(func() { _ = lease.Release() })
		}
	},
	"locks.InterProcessReadWriteLock: 64 readers get the lock from another client's writer":   readersBehindAWriter,
	"locks.InterProcessReadWriteLock: 64 readers get the lock from the second of two writers": readersBehindTwoWriters,
	"locks.InterProcessSemaphoreV2: acquire a lease": func(m *costtest.Meter) func() {
		s := looked(m, leasesOf(m, 3))
		return func() { take(m, s) }
	},
	"locks.InterProcessSemaphoreV2: acquire and release a lease": func(m *costtest.Meter) func() {
		return cycles(m, 0, looked(m, leasesOf(m, 3)))
	},
	"locks.InterProcessSemaphoreV2: acquire and release a lease, from the ninth time in a row on": func(m *costtest.Meter) func() {
		return cycles(m, 20, leasesOf(m, 3))
	},
	"locks.InterProcessSemaphoreV2: acquire and release three leases": func(m *costtest.Meter) func() {
		s := looked(m, leasesOf(m, 3))
		return func() {
			leases, err := s.AcquireN(m.T.Context(), 3)
			m.Do(err)
			m.Do(locks.ReleaseAll(leases...))
		}
	},
	"locks.InterProcessSemaphoreV2: try, if no lease is free": func(m *costtest.Meter) func() {
		s := looked(m, leasesOf(m, 1))
		take(m, locks.NewInterProcessSemaphoreV2(m.Rival(), path, 1))
		return notAcquired(m, s)
	},
	"locks.InterProcessSemaphoreV2: try, if a lease is free": func(m *costtest.Meter) func() {
		s := looked(m, leasesOf(m, 3))
		return func() {
			lease, err := s.TryAcquire(m.T.Context())
			m.Do(err)
			m.T.Cleanup(func() { _ = lease.Release() })
		}
	},
	"locks.InterProcessSemaphoreV2: get a lease from another client": func(m *costtest.Meter) func() {
		held := take(m, locks.NewInterProcessSemaphoreV2(m.Rival(), path, 1))
		waiter := wait(m, func(opts ...locks.Option) locks.Lock { return leasesOf(m, 1, opts...) })
		return func() {
			m.Do(held.Release())
			<-waiter
		}
	},
	"locks.InterProcessSemaphoreMutex: acquire and release": func(m *costtest.Meter) func() {
		return cycles(m, 1, locks.NewInterProcessSemaphoreMutex(m.Client, path))
	},
	"locks.InterProcessMultiLock: acquire and release two mutexes": func(m *costtest.Meter) func() {
		return cycles(m, 1, locks.NewInterProcessMultiLockWithPaths(m.Client, []string{path, path + "2"}))
	},
}

func TestCosts(t *testing.T) { costtest.Count(t, "locks", costs) }
