package live

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"

	"github.com/go-zookeeper/zk"

	"github.com/gocurator/curator/framework/internal/transport"
	"github.com/gocurator/curator/framework/session"
	"github.com/gocurator/curator/retry"
)

// A sender sends requests and waits for their answers.
type sender struct {
	*base
	unfenced atomic.Bool // a server hangs up on fences
}

// call sends requests, and waits for the last or for the end of ctx, but for no connection. After an error the
// variables that callbacks write to must not be read: an answer may still come.
func (s *sender) call(ctx context.Context, build func(finish func(error)) []*transport.Call) error {
	if ctx.Err() != nil {
		return retry.ContextError(ctx)
	}
	done := make(chan error, 1)
	calls := build(func(err error) { done <- err })
	for _, c := range calls {
		if err := s.checkSize(c); err != nil {
			return err
		}
	}
	traffic := s.traffic(ctx)
	s.mu.Lock()
	over, server := s.over, s.server
	unwritten, sent := s.queueLocked(calls...)
	s.mu.Unlock()
	unwritten.Write()
	switch {
	case over != nil:
		return over
	case !sent:
		return ErrNotSent
	}
	traffic.sent(server, calls)
	select {
	case err := <-done:
		traffic.received(calls)
		return err
	case <-ctx.Done():
		return retry.ContextError(ctx)
	}
}

// checkSize refuses what servers would close the connection on.
func (s *sender) checkSize(call *transport.Call) error {
	if size, most := call.Size(), s.cfg.MaxRequest; size > most {
		return fmt.Errorf("%w: the request has %d bytes, servers take %d (WithMaxRequest, jute.maxbuffer)", session.ErrTooLarge, size, most)
	}
	return nil
}

func (s *sender) traffic(ctx context.Context) *Traffic {
	if !s.cfg.CountTraffic {
		return nil
	}
	m, _ := ctx.Value(trafficKey{}).(*Traffic)
	return m
}

func one(c *transport.Call) []*transport.Call { return []*transport.Call{c} }

// exists is [Session.Exists].
func (s *sender) exists(ctx context.Context, path string) (*zk.Stat, error) {
	stat, err := ask(ctx, s, func(done func(*zk.Stat, error)) *transport.Call { return transport.Exists(path, false, done) })
	if errors.Is(err, zk.ErrNoNode) {
		return nil, nil
	}
	return stat, err
}

// ask makes one call, and returns its answer.
func ask[T any](ctx context.Context, s *sender, build func(done func(T, error)) *transport.Call) (answer T, err error) {
	var found T // written when the caller may have gone
	err = s.call(ctx, func(finish func(error)) []*transport.Call {
		return one(build(func(a T, err error) {
			found = a
			finish(err)
		}))
	})
	if err == nil {
		answer = found
	}
	return answer, err
}

// askWithStat is ask for an answer that comes with a Stat.
func askWithStat[T any](ctx context.Context, s *sender, build func(done func(T, *zk.Stat, error)) *transport.Call) (answer T, stat *zk.Stat, err error) {
	var found struct {
		answer T
		stat   *zk.Stat
	}
	err = s.call(ctx, func(finish func(error)) []*transport.Call {
		return one(build(func(a T, stat *zk.Stat, err error) {
			found.answer, found.stat = a, stat
			finish(err)
		}))
	})
	if err == nil {
		answer, stat = found.answer, found.stat
	}
	return answer, stat, err
}

// unanswered reports whether err leaves open what happened. If it came from the server, overloaded for instance,
// another connection does not come by itself.
func (s *sender) unanswered(err error) bool {
	if err == nil || IsAnswer(err) || disconnects(err) {
		return false
	}
	if !errors.Is(err, transport.ErrBroken) {
		s.transport.Break(err)
	}
	return true
}

// orBroken gives the connection up if the server cannot answer just now, because another may. The error is then a lost
// connection.
func (s *sender) orBroken(err error) error {
	if err == nil || errors.Is(err, session.ErrConnectionLost) || errors.Is(err, session.ErrSessionLost) || IsAnswer(err) || !Retryable(err) {
		return err
	}
	s.transport.Break(err)
	return fmt.Errorf("%w: %w", session.ErrConnectionLost, err)
}

// beSure has the server answer anything before a request on which connections have ended. If this one then ends as
// well, the request is the reason.
func (s *sender) beSure(ctx context.Context, c *transport.Call) error {
	if !s.support.Doubts(c) {
		return nil
	}
	err := s.call(ctx, func(finish func(error)) []*transport.Call { return one(transport.Sync("/", finish)) })
	if IsAnswer(err) {
		return nil
	}
	return err
}

// sureFirst is beSure without waiting: once the server has answered something, next is called with the mutex held. If
// the connection ends first, the next one asks again.
func (s *sender) sureFirst(nextLocked func()) *transport.Call {
	return transport.Sync("/", func(err error) {
		if !passing(err) && s.unanswered(err) {
			return
		}
		s.mu.Lock()
		defer s.mu.Unlock()
		nextLocked()
	})
}

// fence is a transaction that changes nothing. A listing behind its answer shows all that the servers have done for the
// session on earlier connections, which a server that is behind, or a deposed leader, which would answer a sync, might
// hide. finish gets nil or why that is not so. The client need not have the right to read the root, because a refusal
// is also a transaction.
//
// Rarely, servers execute such a request even after the fence (ZooKeeper 3.5 to 3.10, S5):
//
//   - A thread of a server has read a create and stands still before it queues it. The connection breaks, and the
//     session's next one belongs to another thread. The owner check compares servers, not connections: when the first
//     thread goes on, the create passes.
//   - A server that stood still may tell the leader of a later handshake of the session first, and then pass on what it
//     had of an earlier connection.
//   - A move between observers of one follower (3.6) is none to the leader.
//
// So each try to create a node has a GUID of its own, and a try that was not found is looked for again: see orphan.
//
// No server is known that hangs up on it. For one that does it again and again, the session goes on with syncs.
func (s *sender) fence(finish func(error)) *transport.Call {
	if s.unfenced.Load() {
		return transport.Sync("/", finish)
	}
	root := join(s.cfg.Chroot, "")
	return transport.Multi([]transport.Op{transport.CheckOp(root, -1)}, func(_ []transport.OpResult, err error) {
		switch {
		case errors.Is(err, zk.ErrNoNode) || errors.Is(err, zk.ErrNoAuth): // some servers say it there
			err = nil
		case disconnects(err) && !s.unfenced.Swap(true):
			s.cfg.Transport.Logger.Warn("framework: the server hangs up on transactions, lost nodes are looked for after a sync", "error", err)
		}
		finish(err)
	})
}

// behindFence puts requests behind a fence, whose error goes to behind. If connections have ended on the fence, another
// request must be answered first.
func (s *sender) behindFence(behind *error, calls ...*transport.Call) []*transport.Call {
	fence := s.fence(func(err error) { *behind = err })
	calls = append(one(fence), calls...)
	if !s.support.Doubts(fence) {
		return calls
	}
	return one(s.sureFirst(func() { s.sendLocked(calls...) }))
}

// awaitFence blocks until a fence is answered.
func (s *sender) awaitFence(ctx context.Context) error {
	err := s.beSure(ctx, s.fence(func(error) {}))
	if err == nil {
		err = s.call(ctx, func(finish func(error)) []*transport.Call { return one(s.fence(finish)) })
	}
	return s.orBroken(err)
}
