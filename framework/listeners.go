package framework

import (
	"runtime"
	"strings"
	"sync"
)

// listeners tells every listener every state, in order. Each has a queue and a goroutine of its own, so that a slow one holds
// up neither the others nor the client.
type listeners struct {
	wg sync.WaitGroup

	mu     sync.Mutex
	all    map[*listener]struct{}
	closed bool
}

type listener struct {
	fn   func(State)
	wake chan struct{}

	mu     sync.Mutex
	queue  []State
	closed bool
}

// add registers fn, which hears present first unless there has been no state yet.
func (ls *listeners) add(fn func(State), present State) (stop func()) {
	l := &listener{fn: fn, wake: make(chan struct{}, 1)}
	ls.mu.Lock()
	if ls.closed {
		ls.mu.Unlock()
		return func() {}
	}
	if ls.all == nil {
		ls.all = map[*listener]struct{}{}
	}
	ls.all[l] = struct{}{}
	ls.wg.Go(l.run)
	ls.mu.Unlock()
	if present != StateLatent {
		l.push(present)
	}
	return func() {
		ls.mu.Lock()
		delete(ls.all, l)
		ls.mu.Unlock()
		l.close()
	}
}

// tell queues a state for everybody. It does not block.
func (ls *listeners) tell(s State) {
	ls.mu.Lock()
	defer ls.mu.Unlock()
	for l := range ls.all {
		l.push(s)
	}
}

// close stops all listeners. It waits for running callbacks, unless it is itself called by one.
func (ls *listeners) close() {
	ls.mu.Lock()
	ls.closed = true
	for l := range ls.all {
		l.close()
	}
	ls.mu.Unlock()
	if !calledByListener() {
		ls.wg.Wait()
	}
}

func (l *listener) push(s State) {
	l.mu.Lock()
	l.queue = append(l.queue, s)
	l.mu.Unlock()
	l.signal()
}

func (l *listener) close() {
	l.mu.Lock()
	l.closed = true
	l.mu.Unlock()
	l.signal()
}

func (l *listener) signal() {
	select {
	case l.wake <- struct{}{}:
	default:
	}
}

func (l *listener) run() {
	for range l.wake {
		for {
			s, ok, closed := l.next()
			if closed {
				return
			}
			if !ok {
				break
			}
			l.call(s)
		}
	}
}

func (l *listener) next() (s State, ok, closed bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.closed || len(l.queue) == 0 {
		return 0, false, l.closed
	}
	s = l.queue[0]
	l.queue = l.queue[1:]
	return s, true, false
}

// call is a method of its own, and never inlined, so that calledByListener can find it on the stack.
//
//go:noinline
func (l *listener) call(s State) { l.fn(s) }

// calledByListener reports whether a listener's callback is among the callers. Close must not wait for the goroutine it runs
// on, and Go has no other way to tell whose that is.
func calledByListener() bool {
	pcs := make([]uintptr, 128)
	frames := runtime.CallersFrames(pcs[:runtime.Callers(2, pcs)])
	for {
		frame, more := frames.Next()
		if strings.HasSuffix(frame.Function, "framework.(*listener).call") {
			return true
		}
		if !more {
			return false
		}
	}
}
