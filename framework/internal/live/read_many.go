package live

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"slices"
	"time"

	"github.com/go-zookeeper/zk"

	"github.com/gocurator/curator/framework/session"
	"github.com/gocurator/curator/retry"
)

// ReadMany is for [session.Reads].
func (s *Session) ReadMany(ctx context.Context, paths []string, part session.NodePart) iter.Seq2[session.NodeRead, error] {
	return func(yield func(session.NodeRead, error) bool) {
		if part < session.ReadData || part > session.ReadChildren {
			yield(session.NodeRead{}, fmt.Errorf("session: ReadMany: %d is no part of a node", part))
			return
		}
		r := s.reads.begin(paths, part)
		defer r.end()
		for range paths {
			read, err := r.next(ctx)
			if !yield(read, err) || err != nil {
				return
			}
		}
	}
}

// A reading is one ReadMany. Its caller's goroutine takes answers, and waits. Requests are sent by that goroutine, or
// by the one that reads the connection, when an answer has made room: neither waits for the other.
type reading struct {
	queue   *readQueue
	part    session.NodePart
	changed chan struct{} // has room for one: an answer has come, or the reading has stalled
	pace    retry.Pace
	began   time.Time // since it last stalled

	// Guarded by the mutex.
	rest    []string    // paths, from the first that was not yielded
	slots   []*readSlot // one for each path that was asked for, from the first of rest; at most mostReads
	waits   bool        // is in the queue
	stalled bool        // nothing is sent until there is a connection
}

type readSlot struct {
	sent    bool  // a request is under way, or done
	done    bool  // read is what is yielded
	refused error // the server's zk.ErrNoAuth: the node's existence is asked for instead
	read    session.NodeRead
}

// next returns the first node.
func (r *reading) next(ctx context.Context) (session.NodeRead, error) {
	for {
		if ctx.Err() != nil {
			return session.NodeRead{}, retry.ContextError(ctx)
		}
		slot, stalled := r.take()
		if slot != nil {
			return slot.read, nil
		}
		if stalled {
			if err := r.resume(ctx); err != nil {
				return session.NodeRead{}, err
			}
			continue
		}
		select {
		case <-r.changed:
		case <-ctx.Done():
		}
	}
}

// take returns the first node if it was read. The room that it leaves is used before the caller's loop works on it.
func (r *reading) take() (first *readSlot, stalled bool) {
	r.queue.mu.Lock()
	defer r.queue.mu.Unlock()
	if len(r.slots) > 0 && r.slots[0].done {
		first = r.slots[0]
		r.slots, r.rest = slices.Delete(r.slots, 0, 1), r.rest[1:]
	}
	r.queue.joinLocked(r)
	return first, r.stalled
}

// nextLocked returns what to ask for next, nil if there is nothing.
func (r *reading) nextLocked() *readSlot {
	if r.stalled {
		return nil
	}
	for _, slot := range r.slots {
		if !slot.sent {
			return slot
		}
	}
	asked := len(r.slots)
	if asked == min(len(r.rest), mostReads) {
		return nil
	}
	r.slots = append(r.slots, &readSlot{read: session.NodeRead{Path: r.rest[asked]}})
	return r.slots[asked]
}

// applyLocked applies an answer. It reports whether the question is open: the reading then stalls, and asks again.
func (r *reading) applyLocked(slot *readSlot, read session.NodeRead) (open bool) {
	switch {
	case read.Err != nil && Retryable(read.Err):
		slot.sent, r.stalled = false, true
		return true
	case errors.Is(read.Err, zk.ErrNoAuth) && r.part == session.ReadData && slot.refused == nil:
		slot.sent, slot.refused = false, read.Err
	default:
		if read.Err == nil {
			read.Err = slot.refused
		}
		slot.done, slot.read = true, read
	}
	return false
}

// resume waits for a connection after the reading has stalled.
func (r *reading) resume(ctx context.Context) error {
	base := r.queue.base
	limit := base.cfg.Transport.ConnectionTimeout
	waiting, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	_ = r.pace.WaitOrDone(waiting, time.Since(r.began), base.done) // waitAttached reports the end
	if base.waitAttached(waiting) != nil {
		// Not its error: the wait may end with its own deadline, and then the session or ctx. Callers would take that
		// deadline for theirs.
		ended := ctx.Err() != nil
		switch over := base.err(); {
		case over != nil:
			return over
		case ended:
			return retry.ContextError(ctx)
		default:
			return base.unreachable(limit)
		}
	}
	base.mu.Lock()
	defer base.mu.Unlock()
	r.stalled, r.began = false, time.Now()
	return nil
}

// unreachable is the error of a wait for a connection that has lasted for limit.
func (b *base) unreachable(limit time.Duration) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	return &session.ConnectError{
		Servers: map[string]error{b.server: session.ErrConnectionLost}, Cause: fmt.Errorf("connection timeout of %v", limit),
	}
}

// end gives up what was not yielded, and the place in the queue. What is under way needs its slot until it is answered.
func (r *reading) end() {
	r.queue.mu.Lock()
	defer r.queue.mu.Unlock()
	r.rest, r.slots = nil, nil
	r.queue.leaveLocked(r)
	r.queue.readings--
}
