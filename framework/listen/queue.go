package listen

import "github.com/gocurator/curator/framework/ranked"

// A Queue calls one function with the values that are pushed, one call at a time, in their order, on a goroutine that
// exists only while there is something to call. Push never blocks. If a call exits its goroutine, as t.FailNow does,
// later calls still run. A panic is not recovered and crashes the process.
//
// No value is lost between Push and the end of the goroutine, and no two goroutines run, because the goroutine finds
// the queue empty and gives up its place (running) in one step under mu. A Push after that starts the next goroutine.
type Queue[T any] struct {
	call    func(T)
	limit   int               // the most that may wait; 0 is none
	dropped func(count int) T // makes the report of what was dropped; nil in a queue that keeps the newest

	mu ranked.Mutex[ranked.Leaf, Queue[T]]
	// Guarded by mu.
	waiting []T
	missed  int           // dropped since the last report
	running chan struct{} // closed when nothing waits or runs; nil then
	closed  bool
}

// Every makes a queue of every value. Its length has no limit.
func Every[T any](call func(T)) *Queue[T] { return &Queue[T]{call: call} }

// Newest makes a queue of the newest value: while a call runs, each value takes the place of the one that waits.
func Newest[T any](call func(T)) *Queue[T] { return &Queue[T]{call: call, limit: 1} }

// Bounded makes a queue in which at most limit values wait. Others are dropped, and replaced by one value, which
// dropped makes of their count. dropped must not use the queue.
func Bounded[T any](limit int, dropped func(count int) T, call func(T)) *Queue[T] {
	return &Queue[T]{call: call, limit: limit, dropped: dropped}
}

// Push queues a value. After Close it does nothing.
func (q *Queue[T]) Push(value T) { q.push(value, false) }

// PushAlways queues a value that no limit drops.
func (q *Queue[T]) PushAlways(value T) { q.push(value, true) }

func (q *Queue[T]) push(value T, always bool) {
	q.mu.Lock()
	defer q.mu.Unlock()
	full := !always && q.limit > 0 && len(q.waiting) >= q.limit
	switch {
	case q.closed:
		return
	case full && q.dropped == nil:
		q.waiting[len(q.waiting)-1] = value
		return
	case full:
		q.missed++
		return
	}
	q.reportLocked()
	q.waiting = append(q.waiting, value)
	if q.running == nil {
		q.running = make(chan struct{})
		go q.run()
	}
}

// reportLocked queues the report of what was dropped, at its place in the order.
func (q *Queue[T]) reportLocked() {
	if q.missed > 0 {
		q.waiting = append(q.waiting, q.dropped(q.missed))
		q.missed = 0
	}
}

func (q *Queue[T]) run() {
	finished := false
	defer func() {
		if !finished { // the call has ended this goroutine; running stays, so that Push begins no other beside the next
			go q.run()
		}
	}()
	for value, found := q.next(); found; value, found = q.next() {
		q.call(value)
	}
	finished = true
}

func (q *Queue[T]) next() (value T, found bool) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if len(q.waiting) == 0 {
		q.reportLocked()
	}
	if len(q.waiting) == 0 {
		q.waiting = nil
		close(q.running)
		q.running = nil
		return value, false
	}
	value, q.waiting[0] = q.waiting[0], value // drop the reference for the garbage collector
	q.waiting = q.waiting[1:]
	return value, true
}

// Wait blocks until nothing waits or runs, or until enough is closed.
func (q *Queue[T]) Wait(enough <-chan struct{}) {
	q.mu.Lock()
	running := q.running
	q.mu.Unlock()
	if running == nil {
		return
	}
	select {
	case <-running:
	case <-enough:
	}
}

// Close drops waiting values. It does not wait for a running call, and a call whose value was already taken may still
// start.
func (q *Queue[T]) Close() {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.closed = true
	q.waiting = nil
	q.missed = 0
}
