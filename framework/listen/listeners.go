package listen

import "github.com/gocurator/curator/framework/ranked"

// Listeners are functions that are called with each value of a stream, each by its own [Queue], so that one that blocks
// holds up neither the others nor the stream.
type Listeners[T any] struct {
	queue func(call func(T)) *Queue[T]

	mu     ranked.Mutex[ranked.Branch, Listeners[T]]
	queues map[*Queue[T]]struct{}
	closed bool
}

// NewListeners makes the listeners of a stream. queue makes the queue of one: Every, or Newest.
func NewListeners[T any](queue func(call func(T)) *Queue[T]) *Listeners[T] {
	return &Listeners[T]{queue: queue, queues: map[*Queue[T]]struct{}{}}
}

// Add calls call with first, if there is such, and then with each value that is pushed. stop ends that, as
// [Queue.Close] does. After Close, Add does nothing.
//
// If the caller reads first and pushes values under one mutex, each listener gets every value once, and in order.
func (ls *Listeners[T]) Add(call func(T), first ...T) (stop func()) {
	q := ls.queue(call)
	ls.mu.Lock()
	defer ls.mu.Unlock()
	if ls.closed {
		return func() {}
	}
	ls.queues[q] = struct{}{}
	for _, value := range first {
		q.Push(value)
	}
	return func() {
		ls.mu.Lock()
		delete(ls.queues, q)
		ls.mu.Unlock()
		q.Close()
	}
}

// Push queues a value for each listener. It does not block.
func (ls *Listeners[T]) Push(value T) {
	ls.mu.Lock()
	defer ls.mu.Unlock()
	for q := range ls.queues {
		q.Push(value)
	}
}

// Close ends all, as their stop does.
func (ls *Listeners[T]) Close() {
	ls.mu.Lock()
	defer ls.mu.Unlock()
	ls.closed = true
	for q := range ls.queues {
		q.Close()
	}
	clear(ls.queues)
}
