package live

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"time"

	"github.com/go-zookeeper/zk"

	"github.com/gocurator/curator/framework/internal/transport"
	"github.com/gocurator/curator/framework/session"
	"github.com/gocurator/curator/retry"
)

// ReadMany is for [session.Reads].
func (s *Session) ReadMany(ctx context.Context, paths []string) iter.Seq2[session.NodeRead, error] {
	return func(yield func(session.NodeRead, error) bool) {
		r := reading{
			session: s, rest: paths, window: readWindow{size: 1}, began: time.Now(),
			answers: make(chan readAnswer, mostReads),
		}
		for len(r.rest) > 0 {
			read, err := r.next(ctx)
			if !yield(read, err) || err != nil {
				return
			}
		}
	}
}

// A reading is one ReadMany. Only its caller's goroutine uses it: the connection's reader puts answers into a channel
// that has room for all that is under way.
type reading struct {
	session  *Session
	rest     []string    // paths, from the first that was not yielded
	slots    []*readSlot // one for each path that was asked for, from the first of rest
	window   readWindow
	underWay int
	answers  chan readAnswer
	stalled  bool // nothing is sent until all that is under way has come back, and there is a connection
	pace     retry.Pace
	began    time.Time // since it last stalled
}

type readSlot struct {
	sent    bool  // a request is under way, or done
	done    bool  // read is what is yielded
	refused error // the server's zk.ErrNoAuth: the node's existence is asked for instead
	read    session.NodeRead
}

type readAnswer struct {
	slot       *readSlot
	data       []byte
	stat       *zk.Stat
	err        error
	sent, came time.Time
}

// next returns the first node. It sends before it looks, so that reads are under way while the caller's loop works.
func (r *reading) next(ctx context.Context) (session.NodeRead, error) {
	for {
		if ctx.Err() != nil {
			return session.NodeRead{}, retry.ContextError(ctx)
		}
		r.send()
		if slot := r.slots[0]; slot.done {
			r.slots, r.rest = r.slots[1:], r.rest[1:]
			return slot.read, nil
		}
		if r.underWay == 0 { // so it has stalled: the first node was asked for before others
			if err := r.resume(ctx); err != nil {
				return session.NodeRead{}, err
			}
			continue
		}
		select {
		case a := <-r.answers:
			r.take(a)
		case <-ctx.Done():
		}
	}
}

// send asks for nodes as far as the window allows. An answer that no loop has asked for yet counts as under way.
func (r *reading) send() {
	for i := range r.rest {
		if i == len(r.slots) {
			r.slots = append(r.slots, &readSlot{read: session.NodeRead{Path: r.rest[i]}})
		}
		if r.stalled || r.underWay >= r.window.size {
			return
		}
		if slot := r.slots[i]; !slot.sent {
			r.ask(slot)
		}
	}
}

// ask sends one request. Without a connection the reading stalls.
func (r *reading) ask(slot *readSlot) {
	answer := readAnswer{slot: slot, sent: time.Now()}
	done := func(data []byte, stat *zk.Stat, err error) {
		answer.data, answer.stat, answer.err, answer.came = data, stat, err, time.Now()
		r.answers <- answer
	}
	call := transport.Get(slot.read.Path, false, done)
	if slot.refused != nil {
		call = transport.Exists(slot.read.Path, false, func(stat *zk.Stat, err error) { done(nil, stat, err) })
	}
	if err := r.session.sender.checkSize(call); err != nil {
		slot.sent, slot.done, slot.read.Err = true, true, err
		return
	}
	base := &r.session.base
	base.mu.Lock()
	sent := base.sendLocked(call)
	base.mu.Unlock()
	if !sent {
		r.stalled = true
		return
	}
	slot.sent = true
	r.underWay++
}

// take applies an answer. What may be answered otherwise soon is asked again.
func (r *reading) take(a readAnswer) {
	r.underWay--
	slot := a.slot
	switch {
	case a.err != nil && Retryable(a.err):
		slot.sent, r.stalled = false, true
		return
	case errors.Is(a.err, zk.ErrNoAuth) && slot.refused == nil:
		slot.sent, slot.refused = false, a.err
	case errors.Is(a.err, zk.ErrNoAuth) || a.err == nil:
		slot.done, slot.read.Data, slot.read.Stat, slot.read.Err = true, a.data, a.stat, slot.refused
	default:
		slot.done, slot.read.Err = true, a.err
	}
	r.window.answered(a.sent, a.came, r.session.Timeout())
}

// resume waits for a connection after the reading has stalled.
func (r *reading) resume(ctx context.Context) error {
	s, limit := r.session, r.session.base.cfg.Transport.ConnectionTimeout
	_ = r.pace.WaitOrDone(ctx, time.Since(r.began), s.base.done) // waitAttached reports the end
	waiting, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	if s.base.waitAttached(waiting) != nil {
		// Not its error: the wait may end with its own deadline, and then the session or ctx. Callers would take that
		// deadline for theirs.
		ended := ctx.Err() != nil
		switch over := s.Err(); {
		case over != nil:
			return over
		case ended:
			return retry.ContextError(ctx)
		default:
			return s.unreachable(limit)
		}
	}
	r.stalled, r.window, r.began = false, readWindow{size: 1}, time.Now()
	return nil
}

// unreachable is the error of a wait for a connection that has lasted for limit.
func (s *Session) unreachable(limit time.Duration) error {
	s.base.mu.Lock()
	defer s.base.mu.Unlock()
	return &session.ConnectError{
		Servers: map[string]error{s.base.server: session.ErrConnectionLost}, Cause: fmt.Errorf("connection timeout of %v", limit),
	}
}
