package session

import (
	"context"
	"fmt"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"github.com/gocurator/curator/framework/internal/clock"
	"github.com/gocurator/curator/framework/internal/transport"
	"github.com/gocurator/curator/framework/internal/watches"
	"github.com/gocurator/curator/retry"
)

// A Session is one incarnation of the client at the ensemble: it owns ephemeral nodes, and ends with them. A client has
// one after the other. Recipes work on a Session, not on the Client, so that the next session finishes nothing by
// accident.
//
// Its methods are safe for concurrent use and take absolute paths, see the client's AbsolutePath.
type Session struct {
	cfg         Config
	tell        Events
	support     *transport.Support
	clock       *clock.Clock
	transport   *transport.Transport
	done        chan struct{} // closed when session and bindings are over
	wake        chan struct{} // to runClock
	id          atomic.Int64  // zero before the first handshake
	attachments Attachments
	unfenced    atomic.Bool // a server hangs up on fences

	// mu guards the one table to which answers and watch events are applied, in the order of arrival. Nothing blocks
	// under it: no I/O, no callback, no lock of the client.
	mu sync.Mutex
	// the servers take the client: the chroot is there, and authentication was not refused
	proven   bool
	attached chan struct{} // closed while online
	online   bool
	server   string // of the connection, or the newest handshake
	over     error
	restarts atomic.Int64 // of the ensemble, before this session
	opened   time.Time    // by the first connection
	leases   leaseClock
	// when the unanswered renewal was sent; zero without one, or without a connection
	renewalSent     time.Time
	renewalReach    transport.Reach // of its answer
	renewalArrivals uint64          // at the transport when that was
	// when another was sent, since that one was too early, or zero; valid only if renewalSent is not zero
	renewalRepeated time.Time
	pinged          bool      // with the unanswered renewal
	renewalsLost    int       // connections in a row that were given up for a renewal
	planned         time.Time // when runClock looks again, unless woken
	term            *term     // nil while leases cannot be valid
	// ended terms whose bindings have not all ended; grows under mu, until over is set
	telling   sync.WaitGroup
	valid     chan struct{} // closed while there is a term
	keptValid int           // calls of KeepValid less those of stop
	watches   *watches.Table
	observers observers
	putOff    time.Time  // when deferred watches are set
	askAgain  time.Time  // when watches that an overloaded server refused are, or were, asked for again
	pace      retry.Pace // of that
	removals  map[string]*Removal
	refusals  map[string]*refusedRemoval // by path
	orphans   map[string]*orphan         // by GUID
}

func newSession(cfg Config, tell Events) *Session {
	s := &Session{
		cfg: cfg, tell: tell, support: cfg.Transport.Support, clock: cfg.Transport.Clock, leases: leaseClock{quorum: !cfg.LeaderRenewal},
		done: make(chan struct{}), wake: make(chan struct{}, 1), attached: make(chan struct{}), valid: make(chan struct{}),
		watches: watches.New(), observers: observers{},
		removals: map[string]*Removal{}, refusals: map[string]*refusedRemoval{}, orphans: map[string]*orphan{},
	}
	s.restarts.Store(int64(cfg.Restarts))
	cfg.Transport.Events = s.events()
	s.transport = transport.New(cfg.Transport)
	s.adopt(cfg.Carried)
	return s
}

// ID is the session's number at the servers, and its nodes' EphemeralOwner.
func (s *Session) ID() int64 {
	return s.id.Load()
}

// Done is closed when the session is over. Every lease has ended by then.
func (s *Session) Done() <-chan struct{} { return s.done }

// Err is nil while the session may live; then [ErrSessionLost], with the reason, or [ErrClosed].
func (s *Session) Err() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.over
}

// Timeout is the session timeout that the servers have granted; 0 before the first connection.
func (s *Session) Timeout() time.Duration {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.leases.timeout
}

// ValidUntil is when leases end without a renewal, by the ordinary clock: the servers cannot end the session earlier.
func (s *Session) ValidUntil() time.Time {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.clock.Wall(s.leases.validUntil())
}

// Silence is the time since the newest request was sent that the leader has answered.
func (s *Session) Silence() time.Duration {
	now := s.clock.Now()
	s.mu.Lock()
	defer s.mu.Unlock()
	return now.Sub(s.leases.led.sent)
}

// Restarts is how often the client had gone on with a younger ensemble when it opened this session. The zxids of two
// sessions can be compared only if it is the same for both.
func (s *Session) Restarts() int { return int(s.restarts.Load()) }

// Attach returns the session's value for key, and makes it if there is none. It goes with the session. See
// [Attachments.Attach].
func (s *Session) Attach(key any, create func() any) any { return s.attachments.Attach(key, create) }

// Connected reports whether the session has a connection now.
func (s *Session) Connected() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.online && s.over == nil
}

// Server is the server of the connection, host:port as the connect string or the list of servers names it; "" without
// one.
func (s *Session) Server() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.online || s.over != nil {
		return ""
	}
	return s.server
}

func (s *Session) waitAttached(ctx context.Context) error {
	for {
		s.mu.Lock()
		attached, online, over := s.attached, s.online, s.over
		s.mu.Unlock()
		switch {
		case over != nil:
			return over
		case ctx.Err() != nil:
			return retry.ContextError(ctx)
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

// Ready blocks until the session is connected and valid, so that a [Session.Bind] can begin, or over, or ctx is done.
// The error is the session's or ctx's cause.
func (s *Session) Ready(ctx context.Context) error {
	defer s.KeepValid()()
	for {
		if err := s.waitAttached(ctx); err != nil {
			return err
		}
		now := s.clock.Now()
		s.mu.Lock()
		lapsed := s.lapse(now)
		valid, ready := s.valid, s.term != nil && s.online
		s.mu.Unlock()
		lapsed.end()
		if ready {
			return nil
		}
		s.wakeClock() // this wait may be all that needs a renewal
		select {
		case <-valid:
		case <-s.done:
		case <-ctx.Done():
		}
	}
}

// KeepValid renews the session, as a binding does, until stop is called, so that a contender that waits can begin a
// [Session.Bind] at any moment. Watches alone do not. stop must be called once. Neither blocks.
func (s *Session) KeepValid() (stop func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.keptValid++
	if s.needsWake(s.clock.Now()) {
		s.wakeClock()
	}
	return s.stopKeeping
}

func (s *Session) stopKeeping() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.keptValid--
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
