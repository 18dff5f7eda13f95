//go:build linux

package godriver

import (
	"errors"
	"fmt"
	"runtime"
	"sync"
	"sync/atomic"
	"syscall"
	"time"
	"unsafe"

	"github.com/gocurator/curator/framework/session"
	"github.com/gocurator/curator/recipes/locks"
)

// A Loss is the end of a lease, as its client explains it.
type Loss struct {
	Reason   string   `json:"reason"`
	Kind     string   `json:"kind"`
	Sentence string   `json:"sentence"`
	Evidence []string `json:"evidence"`
	// Pauses are the stretches of time in which the process did not run, by a goroutine of its own.
	Pauses []Span `json:"pauses,omitempty"`
}

// A Span is a stretch of time, by the clock of [Now].
type Span struct {
	From int64 `json:"from"`
	To   int64 `json:"to"`
}

func newLoss(reason string, why session.Explanation, pauses []Span) *Loss {
	return &Loss{reason, why.Kind.String(), why.Sentence, why.Evidence, pauses}
}

// explain waits for the end of the newest lease.
func (u *lockUser) explain(a *Answer) error {
	if len(u.leases) == 0 {
		return errors.New("nothing is held")
	}
	return explain(u.leases[len(u.leases)-1], a)
}

func explain(lease *locks.Lease, a *Answer) error {
	pauses := watchPauses(lease.Done())
	<-lease.Done()
	a.Ended = Now()
	var lost *locks.LostError
	if err := lease.Err(); !errors.As(err, &lost) {
		return err
	}
	why := lost.Explain()
	a.Loss = newLoss(lost.Reason.Error(), why, <-pauses)
	return nil
}

// explain waits until the node has gone, and is there again: until then it may not be known what came of its session.
func (r *registration) explain(a *Answer) {
	changes := make(chan bool, 100)
	defer r.node.OnChange(func(there bool) {
		select {
		case changes <- there:
		default: // there are enough
		}
	})()
	back := make(chan struct{})
	pauses := watchPauses(back)
	gone := false
	for there := range changes {
		if gone && there {
			break
		}
		gone = gone || !there
	}
	a.Ended = Now()
	close(back)
	a.Loss = newLoss("", r.node.LastLoss(), <-pauses)
}

// watchPauses finds out when the process does not run, until something ends and for as long as a pause may have hidden
// that end.
func watchPauses(end <-chan struct{}) <-chan []Span {
	const look, long = 5 * time.Millisecond, 20 * time.Millisecond
	found := make(chan []Span, 1)
	go func() {
		var all []Span
		ended := false
		for last := Now(); !ended; {
			select {
			case <-end:
				ended = true
			default:
			}
			time.Sleep(look)
			now := Now()
			if now-last > int64(long+look) {
				all = append(all, Span{last + int64(look), now})
			}
			last = now
		}
		found <- all
	}()
	return found
}

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
