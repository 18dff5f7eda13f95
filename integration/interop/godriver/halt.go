//go:build linux

package godriver

import (
	"fmt"
	"runtime"
	"sync"
	"sync/atomic"
	"syscall"
	"time"
	"unsafe"
)

// halt keeps the process from running for so long, by what programs do to themselves:
//
//	spin   a loop without a call, which the scheduler takes for one that runs on; of one processor nothing is left
//	stall  a goroutine that does not stop when the collector stops the world; nothing else runs until it does
//	crowd  more busy goroutines than the processors can serve
//
// Spin and stall need GODEBUG=asyncpreemptoff=1.
func halt(op string, d time.Duration, goroutines int) error {
	until := Now() + int64(d)
	var all sync.WaitGroup
	switch op {
	case "spin":
		occupy(until, 0)
	case "stall":
		var began atomic.Bool
		all.Go(func() {
			began.Store(true)
			occupy(until, 10*time.Millisecond)
		})
		for !began.Load() {
			runtime.Gosched()
		}
		runtime.GC()
	case "crowd":
		for range goroutines {
			all.Go(func() {
				for Now() < until { // a processor that is busy
				}
			})
		}
	default:
		return fmt.Errorf("unknown halt %q", op)
	}
	all.Wait()
	return nil
}

// occupy keeps its processor, as Go counts them, until a time. Between looks at the clock it may sleep as a thread does
// that waits for a page of a file, of which the scheduler does not know. The scheduler cannot stop it anywhere:
// RawSyscall has no point for that.
func occupy(until int64, sleep time.Duration) {
	const clockMonotonic = 1
	var now syscall.Timespec
	pause := syscall.NsecToTimespec(int64(sleep))
	for now.Nano() < until {
		if sleep > 0 {
			_, _, _ = syscall.RawSyscall(syscall.SYS_NANOSLEEP, uintptr(unsafe.Pointer(&pause)), 0, 0)
		}
		_, _, _ = syscall.RawSyscall(syscall.SYS_CLOCK_GETTIME, clockMonotonic, uintptr(unsafe.Pointer(&now)), 0)
	}
}
