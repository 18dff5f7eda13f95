package framework

import (
	"sync"
)

// listeners tells every listener every state, in order. Each has a queue of its own without a limit, so that a slow one
// holds up neither the others nor the client, and misses nothing.
type listeners struct {
	isolate func(call func())

	mu     sync.Mutex
	all    map[*listener]struct{}
	closed bool
}

type listener struct {
	fn    func(State)
	calls callbacks
}

// add registers fn, which hears present first unless there has been no state yet.
func (ls *listeners) add(fn func(State), present State) (stop func()) {
	l := &listener{fn: fn, calls: callbacks{isolate: ls.isolate}}
	ls.mu.Lock()
	defer ls.mu.Unlock()
	if ls.closed {
		return func() {}
	}
	if ls.all == nil {
		ls.all = map[*listener]struct{}{}
	}
	ls.all[l] = struct{}{}
	if present != StateLatent {
		l.tell(present)
	}
	return func() {
		ls.mu.Lock()
		delete(ls.all, l)
		ls.mu.Unlock()
		l.calls.close()
	}
}

// tell queues a state for every listener. It does not block.
func (ls *listeners) tell(s State) {
	ls.mu.Lock()
	defer ls.mu.Unlock()
	for l := range ls.all {
		l.tell(s)
	}
}

func (l *listener) tell(s State) { l.calls.pushAlways(func() { l.fn(s) }) }

// close stops all listeners. It does not wait for callbacks that are running.
func (ls *listeners) close() {
	ls.mu.Lock()
	defer ls.mu.Unlock()
	ls.closed = true
	for l := range ls.all {
		l.calls.close()
	}
	clear(ls.all)
}
