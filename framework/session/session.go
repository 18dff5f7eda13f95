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
	"github.com/gocurator/curator/retry"
)

// A Session is one incarnation of the client at the ensemble: what owns ephemeral nodes, and ends with them. A client
// has one after the other. Recipes work on a Session, not on the Client, so that nothing that was begun in one is
// finished in the next by accident.
//
// Its methods are safe for concurrent use and take absolute paths, see the client's AbsolutePath.
type Session struct {
	cfg         Config
	tell        Events
	support     *transport.Support // what the servers are known to lack
	clock       *clock.Clock
	transport   *transport.Transport
	done        chan struct{} // closed when the session is over and every binding has ended
	wake        chan struct{} // runClock must recompute its next deadline
	id          atomic.Int64  // zero before the first handshake is answered
	attachments Attachments

	// mu guards the one table that answers and watch events are applied to, in the order in which they arrived. Nothing
	// blocks under it: no I/O, no callback, no lock of the client.
	mu sync.Mutex
	// the servers take the client: the chroot is there, and authentication was not refused
	proven   bool
	attached chan struct{} // closed while there is a connection
	online   bool          // whether attached is closed
	server   string        // of the connection, while online; of the handshake before
	over     error
	restarts atomic.Int64 // of the ensemble before this session
	opened   time.Time    // when the first connection was there
	leases   leaseClock
	// when the renewal that is not answered yet was sent; zero if there is none, as without a connection
	renewalSent     time.Time
	renewalReach    transport.Reach // what its answer must have reached
	renewalArrivals uint64          // at the transport when that was
	// when another was sent, since that one was too early; zero if none was; means nothing if renewalSent is zero
	renewalRepeated time.Time
	pinged          bool      // a ping went with the renewal that is not answered yet
	patient         bool      // a connection was given up for a renewal, and none has been answered in time since
	planned         time.Time // when runClock looks again, unless it is woken before
	term            *term     // nil while leases cannot be valid
	// ended terms whose bindings have not all ended; added to under mu, until over is set
	telling   sync.WaitGroup
	valid     chan struct{} // closed while there is a term
	keptValid int           // calls of KeepValid that have not been taken back
	watches   map[watchKey]*serverWatch
	trees     map[string]*tree
	observers observers
	deferred  []*serverWatch             // not set yet
	putOff    time.Time                  // when they are to be set
	refused   []func() []*transport.Call // by an overloaded server; see putBack
	askAgain  time.Time                  // when it is asked for again, or something else was
	pace      retry.Pace                 // of that
	removals  map[string]*Removal
	orphans   map[string]orphan
}

// newSession makes a session that does nothing before its transport is started.
func newSession(cfg Config, tell Events) *Session {
	s := &Session{
		cfg: cfg, tell: tell, support: cfg.Transport.Support, clock: cfg.Transport.Clock, leases: leaseClock{quorum: !cfg.LeaderRenewal},
		done: make(chan struct{}), wake: make(chan struct{}, 1), attached: make(chan struct{}), valid: make(chan struct{}),
		watches: map[watchKey]*serverWatch{}, trees: map[string]*tree{}, observers: observers{},
		removals: map[string]*Removal{}, orphans: map[string]orphan{},
	}
	s.restarts.Store(int64(cfg.Restarts))
	cfg.Transport.Events = s.events()
	s.transport = transport.New(cfg.Transport)
	s.adopt(cfg.Carried)
	return s
}

// ID is the number that the servers know the session by, and that its nodes have as their EphemeralOwner.
func (s *Session) ID() int64 {
	return s.id.Load()
}

// Done is closed when the session is over. Every lease has ended by then.
func (s *Session) Done() <-chan struct{} { return s.done }

// Err is nil as long as the session may live; then it is [ErrSessionLost], with the reason, or [ErrClosed].
func (s *Session) Err() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.over
}

// Timeout is the session timeout that the servers have granted, which may differ from what was asked for; 0
// before the first connection.
func (s *Session) Timeout() time.Duration {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.leases.timeout
}

// ValidUntil is when leases of the session end unless it is renewed before: the servers cannot end the session earlier.
// It is a time of the ordinary clock.
func (s *Session) ValidUntil() time.Time {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.clock.Wall(s.leases.validUntil())
}

// Silence is how long ago the newest request was sent that any server has answered, and the newest that the leader has.
func (s *Session) Silence() (server, leader time.Duration) {
	now := s.clock.Now()
	s.mu.Lock()
	defer s.mu.Unlock()
	return now.Sub(s.leases.last), now.Sub(s.leases.led.sent)
}

// Restarts is how often the client had gone on with an ensemble that was younger than what it had seen, when it opened
// this session. The zxids of two sessions can be compared only if it is the same for both.
func (s *Session) Restarts() int { return int(s.restarts.Load()) }

// Attach returns the value that hangs on the session by key, and makes it if there is none: what a recipe knows in this
// session only. It goes with the session. See [Attachments.Attach].
func (s *Session) Attach(key any, create func() any) any { return s.attachments.Attach(key, create) }

// Connected reports whether the session has a connection now.
func (s *Session) Connected() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.online && s.over == nil
}

// Server is the server that the session is connected to, host:port as the connect string or the list of servers names
// it; "" while it is not connected.
func (s *Session) Server() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.online || s.over != nil {
		return ""
	}
	return s.server
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

// Ready blocks until the session is connected and valid, so that a [Session.Bind] can begin; until it is over; or until
// ctx is done. The error is the session's or ctx's cause.
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
		s.wakeClock() // with nothing else held or watched, the servers must be asked for our sake
		select {
		case <-valid:
		case <-s.done:
		case <-ctx.Done():
		}
	}
}

// KeepValid keeps the session renewed, as a binding does, until stop is called, so that a [Session.Bind] can begin at
// any moment: it is for contenders that wait for their turn. Watches alone do not renew leases. stop must be called
// once. Neither blocks.
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

// String is the number of the session, as ZooKeeper's own logs have it.
func (s *Session) String() string { return fmt.Sprintf("session %#x", s.ID()) }

// GoString is String.
func (s *Session) GoString() string { return s.String() }

// LogValue is for package slog.
func (s *Session) LogValue() slog.Value { return slog.StringValue(fmt.Sprintf("%#x", s.ID())) }
