//go:build linux

package godriver

import "sync"

// A registry is a map that goroutines share.
type registry[T any] struct {
	mu  sync.Mutex
	all map[string]T
}

func (r *registry[T]) put(name string, value T) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.all == nil {
		r.all = map[string]T{}
	}
	r.all[name] = value
}

func (r *registry[T]) get(name string) (T, bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	value, ok := r.all[name]
	return value, ok
}
