package framework

import (
	"sync"
)

// listeners gives every listener every state, in order. Each has an unlimited queue, so that a slow one holds up
// nothing else, and misses nothing.
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

// add registers fn, which hears present first unless that is StateLatent.
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

// tell queues a state without blocking.
func (ls *listeners) tell(s State) {
	ls.mu.Lock()
	defer ls.mu.Unlock()
	for l := range ls.all {
		l.tell(s)
	}
}

func (l *listener) tell(s State) { l.calls.pushAlways(func() { l.fn(s) }) }

// close waits for no callback.
func (ls *listeners) close() {
	ls.mu.Lock()
	defer ls.mu.Unlock()
	ls.closed = true
	for l := range ls.all {
		l.calls.close()
	}
	clear(ls.all)
}
