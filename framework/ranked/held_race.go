//go:build race

package ranked

import (
	"fmt"
	"runtime"
	"runtime/debug"
	"strconv"
	"strings"
	"sync"
)

// runtime.Stack, which names the goroutine, takes longer than the rest of a Lock. So a Lock asks for its goroutine only
// in the rare case that a mutex is held under which it may not be locked. It notes a suspicion there with its
// goroutine. The Unlock of the suspected mutex compares that with its own. If they are the same, that goroutine held
// both, in the wrong order.
//
// A goroutine in a deadlock does not come to that Unlock. It hangs, and the stacks show where.

// A holding is a mutex that is locked: from its Lock to its Unlock it is in the list of all.
type holding struct {
	rank       int
	of         any // a nil pointer to the type that has the mutex
	next, prev *holding
	suspicions *suspicion
}

// A suspicion belongs to a mutex that was held when a goroutine locked another one of no higher rank.
type suspicion struct {
	*locking
	next *suspicion
}

// A locking is a Lock that left suspicions: who called it, and for which mutex.
type locking struct {
	goroutine uint64
	rank      int
	of        any
	callers   [24]uintptr // who called Lock
}

// held are the mutexes that are locked now, of all goroutines.
//
// The race detector must not see that goroutines meet here, or most races of the library would be hidden. So it ignores
// this mutex, by RaceDisable, and the accesses of the functions that hold it, by norace. They use neither maps nor
// append, whose accesses the runtime reports itself.
var held struct {
	mu    sync.Mutex
	first *holding
}

// begin notes that the goroutine has locked the mutex.
//
//go:norace
func (h *holding) begin(rank int, of any) {
	if !h.add(rank, of) {
		return
	}
	// Without held.mu, or all who lock would wait for this. What this goroutine holds it goes on to hold.
	l := &locking{goroutine: goroutineID(), rank: rank, of: of}
	runtime.Callers(3, l.callers[:])
	h.suspect(l)
}

// add puts the mutex in the list, and reports whether one is there that it may not be locked under.
//
//go:norace
func (h *holding) add(rank int, of any) (wrong bool) {
	runtime.RaceDisable()
	defer runtime.RaceEnable()
	held.mu.Lock()
	defer held.mu.Unlock()
	for other := held.first; other != nil && !wrong; other = other.next {
		wrong = other.rank >= rank
	}
	h.rank, h.of = rank, of
	h.next, h.prev = held.first, nil
	if h.next != nil {
		h.next.prev = h
	}
	held.first = h
	return wrong
}

// suspect leaves a suspicion at each mutex that this one may not be locked under.
//
//go:norace
func (h *holding) suspect(l *locking) {
	runtime.RaceDisable()
	defer runtime.RaceEnable()
	held.mu.Lock()
	defer held.mu.Unlock()
	for other := held.first; other != nil; other = other.next {
		if other != h && other.rank >= l.rank {
			other.suspicions = &suspicion{locking: l, next: other.suspicions}
		}
	}
}

// end notes that the goroutine is about to unlock the mutex, and judges its suspicions.
//
//go:norace
func (h *holding) end() {
	rank, of := h.rank, h.of
	suspicions := h.remove()
	if suspicions == nil {
		return
	}
	me := goroutineID()
	var first *suspicion // the others follow from it
	for s := suspicions; s != nil; s = s.next {
		if s.goroutine == me {
			first = s
		}
	}
	if first != nil {
		report(first, rank, of)
	}
}

// remove takes the mutex out of the list, and returns its suspicions. If it is not locked, and so not in the list,
// sync.Mutex ends the process.
//
//go:norace
func (h *holding) remove() *suspicion {
	runtime.RaceDisable()
	defer runtime.RaceEnable()
	held.mu.Lock()
	defer held.mu.Unlock()
	if h.prev != nil {
		h.prev.next = h.next
	} else {
		held.first = h.next
	}
	if h.next != nil {
		h.next.prev = h.prev
	}
	found := h.suspicions
	*h = holding{}
	return found
}

// goroutineID returns the number of this goroutine, which no other ever has.
func goroutineID() uint64 {
	var text [64]byte
	line := string(text[:runtime.Stack(text[:], false)]) // goroutine 17 [running]:
	number, _, _ := strings.Cut(strings.TrimPrefix(line, "goroutine "), " ")
	id, err := strconv.ParseUint(number, 10, 64)
	if err != nil {
		panic("ranked: the stack of a goroutine begins with " + line)
	}
	return id
}

// report ends the process. Code of the user, or framework.CatchPanic, might recover a panic. The stacks of all
// goroutines show which test it was.
func report(s *suspicion, rank int, of any) {
	text := fmt.Sprintf("ranked: wrong order of mutexes: %s (rank %d) was locked while %s (rank %d) was held\n"+
		"goroutine %d locked the first at:\n", name(s.of), s.rank, name(of), rank, s.goroutine)
	frames := runtime.CallersFrames(s.callers[:])
	for more := true; more; {
		var frame runtime.Frame
		frame, more = frames.Next()
		text += fmt.Sprintf("  %s\n    %s:%d\n", frame.Function, frame.File, frame.Line)
	}
	text += "and unlocks the second at:\n" + string(debug.Stack())
	debug.SetTraceback("all")
	go func() { panic(text) }()
	select {}
}

// name is the type that has a mutex, as in queue.Grant.
func name(of any) string { return strings.TrimPrefix(fmt.Sprintf("%T", of), "*") }
