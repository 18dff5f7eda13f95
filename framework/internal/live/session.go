package live

import (
	"context"
	"fmt"
	"log/slog"
	"sync/atomic"
	"time"

	"github.com/gocurator/curator/framework/internal/watches"
)

// A Session is one incarnation of the client at the ensemble: it owns ephemeral nodes, and ends with them. A client has
// one after the other. Recipes work on a Session, not on the Client, so that the next session finishes nothing by
// accident.
//
// Its methods are safe for concurrent use and take absolute paths, see the client's AbsolutePath.
type Session struct {
	base        base
	sender      sender
	validity    validity
	observers   observers
	watching    watching
	removals    removals
	orphans     orphans
	maker       maker
	attachments Attachments
	restarts    atomic.Int64 // of the ensemble, before this session
}

// newSession puts the parts together. A part knows those above it alone, in the order of the fields, but for two
// functions: the validity asks whether anything is watched, and observers show listings to the orphans.
func newSession(cfg Config, tell Events) *Session {
	s := &Session{base: base{
		cfg: cfg, tell: tell, support: cfg.Transport.Support, clock: cfg.Transport.Clock, leases: leaseClock{quorum: !cfg.LeaderRenewal},
		done: make(chan struct{}), wake: make(chan struct{}, 1), attached: make(chan struct{}),
	}}
	s.sender.base = &s.base
	s.validity = validity{
		sender: &s.sender, valid: make(chan struct{}), watchesLocked: func() bool { return !s.watching.table.IsEmpty() },
	}
	s.observers = observers{base: &s.base, of: map[string]map[ChildObserver]struct{}{}, sweep: s.orphans.listed}
	s.watching = watching{sender: &s.sender, validity: &s.validity, observers: &s.observers, table: watches.New()}
	s.removals = removals{
		sender: &s.sender, watching: &s.watching, pending: map[string]*Removal{}, refusals: map[string]*refusedRemoval{},
	}
	s.orphans = orphans{sender: &s.sender, removals: &s.removals, of: map[string]*orphan{}}
	s.maker = maker{sender: &s.sender, observers: &s.observers, removals: &s.removals, orphans: &s.orphans}
	s.restarts.Store(int64(cfg.Restarts))
	return s
}

// ID is the session's number at the servers, and its nodes' EphemeralOwner.
func (s *Session) ID() int64 {
	return s.base.sessionID()
}

// Done is closed when the session is over. Every lease has ended by then.
func (s *Session) Done() <-chan struct{} { return s.base.done }

// Err is nil while the session may live; then [ErrSessionLost], with the reason, or [ErrClosed].
func (s *Session) Err() error { return s.base.err() }

// Timeout is the session timeout that the servers have granted; 0 before the first connection.
func (s *Session) Timeout() time.Duration {
	s.base.mu.Lock()
	defer s.base.mu.Unlock()
	return s.base.leases.timeout
}

// ValidUntil is when leases end without a renewal, by the ordinary clock: the servers cannot end the session earlier.
func (s *Session) ValidUntil() time.Time {
	s.base.mu.Lock()
	defer s.base.mu.Unlock()
	return s.base.clock.Wall(s.base.leases.validUntil())
}

// Silence is the time since the newest request was sent that the leader has answered.
func (s *Session) Silence() time.Duration {
	now := s.base.clock.Now()
	s.base.mu.Lock()
	defer s.base.mu.Unlock()
	return now.Sub(s.base.leases.led.sent)
}

// Restarts is how often the client had gone on with a younger ensemble when it opened this session. The zxids of two
// sessions can be compared only if it is the same for both.
func (s *Session) Restarts() int { return int(s.restarts.Load()) }

// Attach returns the session's value for key, and makes it if there is none. It goes with the session. See
// [Attachments.Attach].
func (s *Session) Attach(key any, create func() any) any { return s.attachments.Attach(key, create) }

// Connected reports whether the session has a connection now.
func (s *Session) Connected() bool {
	s.base.mu.Lock()
	defer s.base.mu.Unlock()
	return s.base.online && s.base.over == nil
}

// Server is the server of the connection, host:port as the connect string or the list of servers names it; "" without
// one.
func (s *Session) Server() string {
	s.base.mu.Lock()
	defer s.base.mu.Unlock()
	if !s.base.online || s.base.over != nil {
		return ""
	}
	return s.base.server
}

// Ready blocks until the session is connected and valid, so that a [Session.Bind] can begin, or over, or ctx is done.
// The error is the session's or ctx's cause.
func (s *Session) Ready(ctx context.Context) error { return s.validity.ready(ctx) }

// KeepValid renews the session, as a binding does, until stop is called, so that a contender that waits can begin a
// [Session.Bind] at any moment. Watches alone do not. stop must be called once. Neither blocks.
func (s *Session) KeepValid() (stop func()) { return s.validity.keepValid() }

// Bind begins a binding. If the session ceases to be valid, end is called once with the cause: [ErrLapsed],
// [ErrSuspended], [ErrSessionLost] or [ErrClosed]; before the session's Done is closed and listeners hear of LOST; from
// any goroutine. It must not block, and should only notify who relies on the binding: the session's other bindings wait
// for their end meanwhile. The rest is for tidy, which may be nil: it is called once after the ends of all bindings and
// the listeners, on a goroutine of the client, and must not block either.
//
// Bind fails, with one of these errors, if the session is not valid: check and beginning are one step. It also refuses
// a nil end.
func (s *Session) Bind(end func(cause error), tidy func()) (*Binding, error) {
	return s.validity.bind(end, tidy)
}

// String is the session's number, as in ZooKeeper's logs.
func (s *Session) String() string { return fmt.Sprintf("session %#x", s.ID()) }

// Format is String by every verb.
func (s *Session) Format(f fmt.State, verb rune) { FormatText(f, verb, s.String()) }

// LogValue is for package slog.
func (s *Session) LogValue() slog.Value {
	if s == nil {
		return slog.StringValue("<nil>")
	}
	return slog.StringValue(fmt.Sprintf("%#x", s.ID()))
}
