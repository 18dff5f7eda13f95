package lead

import (
	"sync"
	"time"
)

const (
	waitingReports = 64          // at most; later events are dropped
	flushTime      = time.Second // at most, for the waiting ones at the end
)

// reports calls Report, which may block for ever, as output does that is not read: nothing else waits for it.
type reports struct {
	waiting chan Event
	ended   chan struct{} // closed when Report has got the last event

	mu      sync.Mutex
	dropped int // since the last event that was let in
}

func newReports(report func(Event)) *reports {
	r := &reports{waiting: make(chan Event, waitingReports), ended: make(chan struct{})}
	go func() {
		defer close(r.ended)
		for event := range r.waiting {
			report(event)
		}
	}()
	return r
}

// add does not block.
func (r *reports) add(event Event) {
	r.mu.Lock()
	defer r.mu.Unlock()
	event.At, event.Dropped = time.Now(), r.dropped
	select {
	case r.waiting <- event:
		r.dropped = 0
	default:
		r.dropped++
	}
}

// end lets the waiting events through, for at most flushTime. No event may be added any more.
func (r *reports) end() {
	close(r.waiting)
	select {
	case <-r.ended:
	case <-time.After(flushTime):
	}
}
