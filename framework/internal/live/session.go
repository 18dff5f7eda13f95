package live

import (
	"cmp"
	"context"
	"fmt"
	"log/slog"
	"sync/atomic"
	"time"

	"github.com/gocurator/curator/framework/internal/cause"
	"github.com/gocurator/curator/framework/internal/watches"
	"github.com/gocurator/curator/framework/session"
)

// A Session is a [session.Session], which documents its methods, with what the client alone does in it.
type Session struct {
	base        base
	sender      sender
	validity    validity
	observers   observers
	watching    watching
	reads       readQueue
	removals    removals
	orphans     orphans
	maker       maker
	attachments session.Attachments
	generation  atomic.Int64 // how often the client had gone on with a younger ensemble before this session
}

var _ session.Session = (*Session)(nil)

// newSession puts the parts together. A part knows those above it alone, in the order of the fields, but for two
// functions: the validity asks whether anything is watched, and observers show listings to the orphans.
func newSession(cfg Config, tell Events) *Session {
	s := &Session{base: base{
		cfg: cfg, tell: tell, support: cfg.Transport.Support, clock: cfg.Transport.Clock, leases: leaseClock{quorum: !cfg.SyncRenewal},
		ring: cfg.Ring, done: make(chan struct{}), wake: make(chan struct{}, 1), attached: make(chan struct{}),
	}}
	if s.base.ring == nil {
		s.base.ring = cause.New(s.base.clock.Now())
	}
	s.base.ring.Begin(s.base.clock.Now())
	s.sender.base = &s.base
	s.validity = validity{
		sender: &s.sender, valid: make(chan struct{}), watchesLocked: func() bool { return !s.watching.table.IsEmpty() },
	}
	s.validity.sample = s.validity.takeSample
	s.observers = observers{base: &s.base, of: map[string][]session.ChildObserver{}, sweep: s.orphans.listed}
	s.watching = watching{
		sender: &s.sender, validity: &s.validity, observers: &s.observers, table: watches.New(),
		readsAll: cmp.Or(cfg.ReadsAll, new(atomic.Bool)),
	}
	s.reads = readQueue{sender: &s.sender, observers: &s.observers}
	s.removals = removals{
		sender: &s.sender, watching: &s.watching, pending: map[string]*removal{}, refusals: map[string]*refusedRemoval{},
	}
	s.orphans = orphans{sender: &s.sender, removals: &s.removals, of: map[string]*orphan{}}
	s.maker = maker{sender: &s.sender, observers: &s.observers, removals: &s.removals, orphans: &s.orphans, unsettled: map[string]struct{}{}}
	s.generation.Store(int64(cfg.EnsembleGeneration))
	return s
}

// ID is for [session.Session].
func (s *Session) ID() int64 {
	return s.base.sessionID()
}

// Done is for [session.Session].
func (s *Session) Done() <-chan struct{} { return s.base.done }

// Err is for [session.Session].
func (s *Session) Err() error { return s.base.err() }

// Timeout is for [session.Session].
func (s *Session) Timeout() time.Duration {
	s.base.mu.Lock()
	defer s.base.mu.Unlock()
	return s.base.leases.timeout
}

// ValidUntil is for [session.Session].
func (s *Session) ValidUntil() time.Time {
	s.base.mu.Lock()
	defer s.base.mu.Unlock()
	return s.base.clock.Wall(s.base.leases.validUntil())
}

// SinceLeaderContact is for [session.Session].
func (s *Session) SinceLeaderContact() time.Duration {
	now := s.base.clock.Now()
	s.base.mu.Lock()
	defer s.base.mu.Unlock()
	return now.Sub(s.base.leases.led.sent)
}

// LastZxid is for [session.Session].
func (s *Session) LastZxid() int64 { return s.sender.transport.SeenZxid() }

// EnsembleGeneration is for [session.Session].
func (s *Session) EnsembleGeneration() int { return int(s.generation.Load()) }

// Attachments is for [session.Session].
func (s *Session) Attachments() *session.Attachments { return &s.attachments }

// Connected is for [session.Session].
func (s *Session) Connected() bool {
	return s.base.usable.Load()
}

// Server is for [session.Session].
func (s *Session) Server() string {
	s.base.mu.Lock()
	defer s.base.mu.Unlock()
	if !s.base.online || s.base.over != nil {
		return ""
	}
	return s.base.server
}

// BlockUntilValid is for [session.Validity].
func (s *Session) BlockUntilValid(ctx context.Context) error { return s.validity.blockUntilValid(ctx) }

// StartRenewal is for [session.Validity].
func (s *Session) StartRenewal() (stop func()) { return s.validity.startRenewal() }

// Bind is for [session.Validity].
func (s *Session) Bind(onEnd func(cause error), cleanup func()) (session.Binding, error) {
	b, err := s.validity.bind(onEnd, cleanup)
	if err != nil {
		return nil, err // not a typed nil *binding
	}
	return b, nil
}

// String is the session's number, as in ZooKeeper's logs.
func (s *Session) String() string { return fmt.Sprintf("session %#x", s.ID()) }

// Format is String by every verb.
func (s *Session) Format(f fmt.State, verb rune) { session.Format(f, verb, s) }

// LogValue is String.
func (s *Session) LogValue() slog.Value { return slog.StringValue(fmt.Sprint(s)) }
