package framework

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/go-zookeeper/zk"

	"github.com/gocurator/curator/framework/internal/clock"
	"github.com/gocurator/curator/framework/internal/transport"
)

// A Session is one incarnation of the client at the ensemble: what owns ephemeral nodes, and ends with them. A client has one
// after the other. Recipes work on a Session, not on the Client, so that nothing that was begun in one is finished in the
// next by accident.
//
// Its methods are safe for concurrent use and take absolute paths, see [Client.AbsolutePath].
type Session struct {
	core      *core
	transport *transport.Transport
	done      chan struct{} // closed when the session is over and every hold has been told
	wake      chan struct{} // the guard must look at the clock anew

	// mu guards the one table that answers and watch events are applied to, in the order in which they arrived. Nothing
	// blocks under it: no I/O, no callback, no lock of the client.
	mu        sync.Mutex
	id        int64
	proven    bool          // the servers take the client: the chroot is there, and authentication was not refused
	attached  chan struct{} // closed while there is a connection
	online    bool          // whether attached is closed
	over      error
	contact   contact
	asked     time.Time     // when the renewal that is not answered yet was sent; zero if there is none
	planned   time.Time     // when the guard looks at the clock again, unless it is asked to before
	term      *term         // nil while leases cannot be valid
	valid     chan struct{} // closed while there is a term
	expected  int           // how many wait for that
	watches   map[watchKey]*watch
	followers followers
	deferred  []*watch  // not set yet
	putOff    time.Time // when they are to be set
	removals  map[string]*Removal
	orphans   map[string]orphan
}

func newSession(c *core) *Session {
	return &Session{
		contact: contact{quorum: c.cfg.quorum},
		core:    c, done: make(chan struct{}), wake: make(chan struct{}, 1), attached: make(chan struct{}), valid: make(chan struct{}),
		watches: map[watchKey]*watch{}, followers: followers{}, removals: map[string]*Removal{}, orphans: map[string]orphan{},
	}
}

// ID is the number that the servers know the session by, and that its nodes have as their EphemeralOwner.
func (s *Session) ID() int64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.id
}

// Done is closed when the session is over. Every lease has ended by then.
func (s *Session) Done() <-chan struct{} { return s.done }

// Err is nil as long as the session may live; then it is [ErrSessionLost], with the reason, or [ErrClosed].
func (s *Session) Err() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.over
}

// ValidUntil is when leases of the session end unless it is renewed before: the servers cannot end the session earlier. It
// is a time of the ordinary clock.
func (s *Session) ValidUntil() time.Time {
	s.mu.Lock()
	defer s.mu.Unlock()
	return clock.Wall(s.contact.validUntil())
}

func (s *Session) isAttached() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.online && s.over == nil
}

// waitAttached blocks until the session has a connection, it is over, or ctx is done.
func (s *Session) waitAttached(ctx context.Context) error {
	for {
		s.mu.Lock()
		attached, online, over := s.attached, s.online, s.over
		s.mu.Unlock()
		switch {
		case over != nil:
			return over
		case ctx.Err() != nil:
			return context.Cause(ctx)
		case online:
			return nil
		}
		select {
		case <-attached:
		case <-s.done:
		case <-ctx.Done():
		}
	}
}

// Ready blocks until the session is connected and valid, so that a [Session.Hold] can begin; until it is over; or until ctx is
// done. The error is the session's or ctx's cause.
func (s *Session) Ready(ctx context.Context) error {
	s.expect(+1)
	defer s.expect(-1)
	for {
		if err := s.waitAttached(ctx); err != nil {
			return err
		}
		now := clock.Now()
		s.mu.Lock()
		lapsed := s.lapse(now)
		valid, ready := s.valid, s.term != nil && s.online
		s.mu.Unlock()
		lapsed.end()
		if ready {
			return nil
		}
		s.look() // with nothing else held or watched, the leader must be asked for our sake
		select {
		case <-valid:
		case <-s.done:
		case <-ctx.Done():
		}
	}
}

// expect counts those who wait for the session to be valid.
func (s *Session) expect(n int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.expected += n
}

// events are the transport's callbacks: the only ones that change the table, but for what callers ask for and the clock does.
func (s *Session) events() transport.Events {
	return transport.Events{
		Attached: s.onAttached, Detached: s.onDetached, Answered: s.onAnswered, Watch: s.onWatch,
		Expired: func() { s.end(fmt.Errorf("%w: the servers say that it has expired", ErrSessionLost)) },
		Failed:  s.onFailed,
	}
}

func (s *Session) onAttached(a transport.Attachment) {
	now := clock.Now()
	s.mu.Lock()
	s.id = a.SessionID
	lapsed := s.lapse(now)
	s.contact.attached(a.Timeout, a.Sent, a.Received)
	s.asked = time.Time{}
	proven := s.proven || s.core.cfg.chroot == "" && len(s.core.cfg.auth) == 0
	s.mu.Unlock()
	lapsed.end()
	s.look()
	if proven {
		s.connect()
		return
	}
	s.prove(a.Server)
}

// prove makes the session's first request before it is opened to its users: nobody is told of a connection to a chroot that
// is not there, or that ends with the refusal of an authentication, which is on its way ahead of this request.
func (s *Session) prove(server string) {
	root := join(s.core.cfg.chroot, "")
	s.transport.Send(transport.Exists(root, false, func(_ *zk.Stat, err error) {
		switch {
		case err == nil, errors.Is(err, zk.ErrNoAuth): // it is there, though it is not ours to look at
			s.connect()
		case !errors.Is(err, transport.ErrBroken):
			if errors.Is(err, zk.ErrNoNode) {
				err = fmt.Errorf("%w: %s", ErrNoChroot, root)
			}
			s.onFailed(server, err)
			s.transport.Break(err)
		}
	}))
}

// onFailed passes on why a server could not be used. A refusal is final: the session is over, and there will be no other.
func (s *Session) onFailed(server string, err error) {
	s.core.failed(server, err)
	if errors.Is(err, ErrAuthRefused) {
		s.end(fmt.Errorf("%w: %w", ErrSessionLost, err))
	}
}

// connect opens the session to its users, and sends what was left undone by the connection before.
func (s *Session) connect() {
	s.mu.Lock()
	if s.over != nil {
		s.mu.Unlock()
		return
	}
	s.proven, s.online = true, true
	close(s.attached)
	s.renewTerm(clock.Now())
	s.send(s.unfinished()...)
	s.mu.Unlock()
	s.look()
	s.core.move(s, eventAttached)
}

func (s *Session) onDetached(reason error) {
	s.mu.Lock()
	was := s.online
	var ended *term
	if was {
		s.online = false
		s.asked = time.Time{} // it went down with the connection, and is no charge against the next one
		s.attached = make(chan struct{})
		s.forgetWatches()
		if s.core.cfg.errorPolicy == StandardErrorPolicy {
			ended = s.endTerm(ErrSuspended)
		}
	}
	s.mu.Unlock()
	ended.end()
	if was {
		s.core.cfg.logger.Debug("framework: connection lost", "session", fmt.Sprintf("%#x", s.ID()), "error", reason)
		s.core.move(s, eventDetached)
	}
}

func (s *Session) onAnswered(sent, received time.Time, crossing bool) {
	s.mu.Lock()
	// First the lapse, then the renewal: an answer that comes too late must not revive a lease that somebody may already
	// have seen expired.
	lapsed := s.lapse(received)
	s.contact.answered(sent, received, crossing)
	if crossing {
		s.asked = time.Time{}
	}
	s.renewTerm(received)
	s.mu.Unlock()
	lapsed.end()
}

// end ends the session: first its leases, then itself; then listeners hear of it. What it owns at the servers goes with it.
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

// conclude ends the session under mu and returns what is to be done about it without: its owner is told by rest.
func (s *Session) conclude(cause error) (rest func()) {
	s.over = cause
	ended := s.endTerm(cause)
	left := s.abandon()
	return func() {
		ended.end()
		s.core.later(left)
		close(s.done)
		s.core.move(s, eventOver)
	}
}

// send puts calls on the wire and reports whether there is a connection. mu is held, so that requests leave in the order in
// which the table changed: a watch that is taken off and set again at once must not be taken off last. It only queues.
func (s *Session) send(calls ...*transport.Call) bool {
	return s.online && s.over == nil && s.transport.Send(calls...)
}

// wanted reports whether anybody relies on the session staying valid. mu is held.
func (s *Session) wanted() bool {
	return s.expected > 0 || len(s.watches) > 0 || s.term != nil && len(s.term.holds) > 0
}
