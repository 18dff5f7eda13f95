package zktest

import (
	"io"
	"net"
	"os"
	"sync"
	"sync/atomic"
	"syscall"
	"time"
)

// half is one direction of an in-memory connection. A write never waits for
// the reader; every write arrives as one segment, delay later.
//
// A reader or writer waits on a channel, never on the mutex, so that a
// testing/synctest bubble sees the goroutine as durably blocked.
type half struct {
	delay *atomic.Int64 // nanoseconds, owned by the link

	mu       sync.Mutex
	segments []segment
	ended    bool      // the writer has closed; EOF is read at endDue
	endDue   time.Time // also the time of the newest segment: nothing overtakes
	stopped  bool      // the reader has closed
	stopSeen time.Time // when the writer learns that the reader has closed
	reset    bool
	muted    bool
	readBy   time.Time
	writeBy  time.Time
	changed  chan struct{} // made by who waits, closed by who changes
}

type segment struct {
	data []byte
	due  time.Time
}

// wake is called with mu held.
func (h *half) wake() {
	if h.changed != nil {
		close(h.changed)
		h.changed = nil
	}
}

func (h *half) read(p []byte) (int, error) {
	h.mu.Lock()
	for {
		until, n, err := h.tryRead(p, time.Now())
		if until == nil {
			h.mu.Unlock()
			return n, err
		}
		if h.changed == nil {
			h.changed = make(chan struct{})
		}
		changed := h.changed
		h.mu.Unlock()
		waitUntil(changed, *until)
		h.mu.Lock()
	}
}

// tryRead returns until == nil when it is done; otherwise nothing can happen
// before *until (zero: for ever) unless the half changes.
func (h *half) tryRead(p []byte, now time.Time) (until *time.Time, n int, err error) {
	switch {
	case h.stopped:
		return nil, 0, net.ErrClosed
	case h.reset:
		return nil, 0, syscall.ECONNRESET
	case !h.readBy.IsZero() && !now.Before(h.readBy):
		return nil, 0, os.ErrDeadlineExceeded
	case len(p) == 0:
		return nil, 0, nil
	}
	var next time.Time
	switch {
	case len(h.segments) > 0:
		next = h.segments[0].due
		if !next.After(now) {
			return nil, h.drain(p, now), nil
		}
	case h.ended && !h.muted:
		next = h.endDue
		if !next.After(now) {
			return nil, 0, io.EOF
		}
	}
	if next.IsZero() || !h.readBy.IsZero() && h.readBy.Before(next) {
		next = h.readBy
	}
	return &next, 0, nil
}

// drain copies what has arrived into p, across segments.
func (h *half) drain(p []byte, now time.Time) (n int) {
	for len(h.segments) > 0 && n < len(p) && !h.segments[0].due.After(now) {
		s := &h.segments[0]
		k := copy(p[n:], s.data)
		n += k
		s.data = s.data[k:]
		if len(s.data) == 0 {
			h.segments[0] = segment{}
			h.segments = h.segments[1:]
		}
	}
	if len(h.segments) == 0 {
		h.segments = nil
	}
	return n
}

// waitUntil returns when changed is closed or the time has come.
func waitUntil(changed <-chan struct{}, t time.Time) {
	if t.IsZero() {
		<-changed
		return
	}
	timer := time.NewTimer(time.Until(t))
	defer timer.Stop()
	select {
	case <-changed:
	case <-timer.C:
	}
}

func (h *half) write(p []byte) (int, error) {
	now := time.Now()
	h.mu.Lock()
	defer h.mu.Unlock()
	switch {
	case h.ended:
		return 0, net.ErrClosed
	case h.reset:
		return 0, syscall.ECONNRESET
	case !h.writeBy.IsZero() && !now.Before(h.writeBy):
		return 0, os.ErrDeadlineExceeded
	case h.stopped && !h.muted && !now.Before(h.stopSeen):
		return 0, syscall.EPIPE
	case h.muted, h.stopped, len(p) == 0:
		return len(p), nil
	}
	h.segments = append(h.segments, segment{append([]byte(nil), p...), h.arrival(now)})
	h.wake()
	return len(p), nil
}

// arrival is when something sent now gets there.
func (h *half) arrival(now time.Time) time.Time {
	due := now.Add(time.Duration(h.delay.Load()))
	if due.Before(h.endDue) {
		due = h.endDue
	}
	h.endDue = due
	return due
}

// change runs f with the half locked and wakes its waiters.
func (h *half) change(f func(h *half)) {
	h.mu.Lock()
	defer h.mu.Unlock()
	f(h)
	h.wake()
}

func (h *half) end() {
	now := time.Now()
	h.change(func(h *half) {
		if !h.ended {
			h.ended = true
			h.arrival(now)
		}
	})
}

func (h *half) stop() {
	seen := time.Now().Add(time.Duration(h.delay.Load()))
	h.change(func(h *half) { h.stopped, h.stopSeen, h.segments = true, seen, nil })
}

func (h *half) breakOff() { h.change(func(h *half) { h.reset, h.segments = true, nil }) }

// mute swallows what is under way; what has arrived stays readable.
func (h *half) mute() {
	now := time.Now()
	h.change(func(h *half) {
		h.muted = true
		for i, s := range h.segments {
			if s.due.After(now) {
				h.segments = h.segments[:i]
				break
			}
		}
	})
}
