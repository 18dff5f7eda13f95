package session

import (
	"errors"
	"fmt"
	"time"

	"github.com/go-zookeeper/zk"

	"github.com/gocurator/curator/framework/internal/transport"
)

// events are the transport's callbacks: they alone change the table, but for callers and the clock.
func (s *Session) events() transport.Events {
	return transport.Events{
		Attached: s.onAttached, Detached: s.onDetached, Answered: s.onAnswered, Watch: s.onWatch,
		Expired: func() { s.end(fmt.Errorf("%w: the servers say that it has expired", ErrSessionLost)) },
		Failed:  s.onFailed, Restarted: s.onRestarted, GaveUp: s.notifyBehind,
	}
}

func (s *Session) onAttached(a transport.Attachment) {
	now := s.clock.Now()
	s.mu.Lock()
	s.id.Store(a.SessionID)
	s.server = a.Server
	if s.opened.IsZero() {
		s.opened = now
	}
	lapsed := s.lapse(now)
	s.leases.attached(a.Timeout, a.Sent, a.Received)
	proven := s.proven || s.cfg.Chroot == "" && len(s.cfg.Transport.Authorizations()) == 0
	s.mu.Unlock()
	lapsed.end()
	s.wakeClock()
	if proven {
		s.connect()
		return
	}
	s.prove(a.Server)
}

// prove makes the session's first request before users get it: they hear of no connection to a missing chroot, nor of
// one that ends with the refusal of an authentication, which is on its way ahead of this request.
func (s *Session) prove(server string) {
	root := join(s.cfg.Chroot, "")
	s.transport.Send(transport.Exists(root, false, func(_ *zk.Stat, err error) {
		switch {
		case err == nil, errors.Is(err, zk.ErrNoAuth): // it exists, unreadable
			s.connect()
		case s.Err() != nil: // its end may be on its way, and waits for its answer
		case !errors.Is(err, transport.ErrBroken):
			if errors.Is(err, zk.ErrNoNode) {
				err = fmt.Errorf("%w: %s", ErrNoChroot, root)
			}
			s.onFailed(server, err)
			s.transport.Break(err)
		}
	}))
}

// onRestarted counts before the owner hears of the connection: all users find the new number.
func (s *Session) onRestarted(server string, seen, found int64) {
	s.restarts.Add(1)
	s.tell.Restarted(server, seen, found)
}

// onFailed passes on why a server could not be used. A refusal is final: there will be no other session.
func (s *Session) onFailed(server string, err error) {
	s.tell.Failed(server, err)
	if errors.Is(err, ErrAuthRefused) {
		s.end(fmt.Errorf("%w: %w", ErrSessionLost, err))
	}
}

// connect opens the session to its users, and sends what the last connection left undone.
func (s *Session) connect() {
	s.mu.Lock()
	if s.over != nil {
		s.mu.Unlock()
		return
	}
	s.proven, s.online = true, true
	close(s.attached)
	s.renewTerm(s.clock.Now())
	s.giveUpTrees()
	s.send(s.unfinished()...)
	s.setWatches()
	refused := s.watches.Wakes()
	s.mu.Unlock()
	call(refused)
	s.wakeClock()
	s.tell.Attached()
}

func (s *Session) onDetached(reason error) {
	s.mu.Lock()
	was := s.online
	var ended *term
	if was {
		s.online = false
		s.renewalSent = time.Time{} // no charge against the next connection
		s.attached = make(chan struct{})
		s.watches.Detached()
		s.forgetLooks()
		if s.cfg.Policy == StandardErrorPolicy {
			ended = s.endTerm(ErrSuspended)
		}
	}
	s.mu.Unlock()
	ended.end()
	if was {
		s.cfg.Transport.Logger.Debug("framework: connection lost", "session", fmt.Sprintf("%#x", s.ID()), "error", reason)
		s.tell.Detached(reason)
	}
}

func (s *Session) onAnswered(sent, received time.Time, reach transport.Reach) {
	s.mu.Lock()
	// First the lapse, then the renewal: a late answer must not revive a lease that another client may already have
	// seen expired.
	lapsed := s.lapse(received)
	s.leases.answered(sent, received, reach)
	wake := false
	// An answer to an earlier request proves less.
	if !s.renewalSent.IsZero() && reach >= s.renewalReach && !sent.Before(s.renewalSent) {
		s.renewed(received.Sub(sent))
		s.renewalSent, s.renewalRepeated = s.renewalRepeated, time.Time{}
		if !sent.Before(s.renewalSent) {
			s.renewalSent = time.Time{}
		}
		s.pinged = false
		wake = s.needsWake(received)
	}
	s.renewTerm(received)
	s.mu.Unlock()
	lapsed.end()
	if wake {
		s.wakeClock()
	}
}

// end ends the session: first its leases, then itself; then listeners hear of it; then the rest is tidied up. What it
// owns at the servers goes with it.
func (s *Session) end(cause error) {
	s.mu.Lock()
	if s.over != nil {
		s.mu.Unlock()
		return
	}
	conclude := s.conclude(cause)
	s.mu.Unlock()
	conclude()
}

// conclude marks the session as over (mu held) and returns the work to do after unlocking.
func (s *Session) conclude(cause error) (rest func()) {
	s.over = cause
	ended := s.endTerm(cause)
	left, removals := s.abandon()
	return func() {
		bindings := ended.tell()
		// The bindings may have lapsed just before, and a caller of Err, for instance, ends them.
		s.telling.Wait()
		close(s.done)
		s.tell.Over()
		s.tell.Left(left)
		for _, r := range removals {
			r.finish(fmt.Errorf("not done before: %w", cause))
		}
		s.tidy(bindings)
	}
}

// leastLife stands for shorter session timeouts in endedYoung: servers may grant one that is over before any answer.
const leastLife = time.Second

func (s *Session) endedYoung() (young bool, timeout time.Duration) {
	now := s.clock.Now()
	s.mu.Lock()
	defer s.mu.Unlock()
	if timeout = s.leases.timeout; timeout > 0 {
		timeout = max(timeout, leastLife)
	}
	return now.Sub(s.opened) < timeout, timeout
}

// send queues calls and reports whether there is a connection. mu is held, so that requests leave in the order in which
// the table changed: a watch that is taken off and set again must not be taken off last.
func (s *Session) send(calls ...*transport.Call) bool {
	return s.online && s.over == nil && s.transport.Send(calls...)
}

// needs says who must answer, four times in a session timeout. mu is held. Bindings and contenders need what renews
// leases. Watches need a server that is connected with its leader: another hears of no change.
func (s *Session) needs() transport.Reach {
	switch {
	case s.keptValid > 0 || s.term != nil && len(s.term.bindings) > 0:
		return s.leases.proof()
	case !s.watches.IsEmpty():
		return transport.ReachLeader
	default:
		return transport.ReachServer
	}
}
