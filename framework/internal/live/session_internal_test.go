package live

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"net"
	"slices"
	"testing"
	"time"

	"github.com/go-zookeeper/zk"

	"github.com/gocurator/curator/framework/internal/cause"
	"github.com/gocurator/curator/framework/internal/clock"
	"github.com/gocurator/curator/framework/internal/transport"
	"github.com/gocurator/curator/framework/session"
	"github.com/gocurator/curator/framework/zktest"
)

// oneTimeout is longer than a busy machine stalls: not all tests of it run in a bubble.
const oneTimeout = 12 * time.Minute

// ownerLog records what a session reports to its owner.
type ownerLog struct {
	events []string // "attached", "detached", "over"
	failed []error
	left   Backlog
}

func (o *ownerLog) hear() Events {
	note := func(event string) func() { return func() { o.events = append(o.events, event) } }
	return Events{
		Attached: func(string) { note("attached")() }, Detached: func(error) { note("detached")() }, Over: note("over"),
		Backlog: func(work Backlog) { o.left.Add(work) }, Failed: func(_ string, err error) { o.failed = append(o.failed, err) },
		Restarted: func(string, int64, int64) {}, Chore: func(do func()) { do() },
		OrphanFound: func(string) {}, RemovalFailed: func(string, error) {},
	}
}

// unconnected returns a session whose transport was never started, and the record of what it reports. Tests call by
// hand what happens to it.
func unconnected() (*whole, *ownerLog) {
	owner := &ownerLog{}
	return newWhole(unconnectedConfig(), owner.hear()), owner
}

// A whole is a session with what its owner does.
type whole struct {
	*Session
	*Runner
}

func newWhole(cfg Config, tell Events) *whole {
	o := New(cfg, tell)
	return &whole{o.Session(), o}
}

func unconnectedConfig() Config {
	logger := slog.New(slog.DiscardHandler)
	return Config{
		Transport: transport.Config{
			Logger: logger, Support: transport.NewSupport(logger), Clock: clock.New(),
			Dial: func(context.Context, string, string) (net.Conn, error) { return nil, errors.New("nowhere") },
		},
		ACL: func(string) []zk.ACL { return zk.WorldACL(zk.PermAll) },
	}
}

func attachedAt(sent time.Time) transport.Attachment {
	return transport.Attachment{SessionID: 7, Timeout: oneTimeout, Sent: sent, Received: sent, Server: "zk:1"}
}

// The process is suspended, and so are its timers; the first thing that happens after it is the answer to a sync that
// was sent before.
func TestALateAnswerDoesNotReviveABinding(t *testing.T) {
	s, _ := unconnected()
	now := s.clock.Now()
	s.onAttached(attachedAt(now))
	var cause error
	h, err := s.Bind(func(err error) { cause = err }, nil)
	if err != nil {
		t.Fatal(err)
	}
	s.onAnswered(now.Add(oneTimeout/4), now.Add(oneTimeout/4), transport.ReachServer)
	s.onAnswered(now.Add(oneTimeout*3/4), now.Add(oneTimeout), transport.ReachMajority)
	if !errors.Is(cause, session.ErrNotRenewed) || !errors.Is(h.Err(), session.ErrNotRenewed) {
		t.Errorf("the binding ended with %v, and says %v", cause, h.Err())
	}
	if s.Runner.validity.term == nil {
		t.Error("got no new term, want one")
	}
}

// runClock finds the timeout over, and before it can end the session the reader attaches it again.
func TestAnAttachmentInTimeIsNotEndedForWhatWasBefore(t *testing.T) {
	s, _ := unconnected()
	start := s.clock.Now()
	s.onAttached(attachedAt(start))
	s.onDetached(errors.New("broken"))
	s.onAttached(attachedAt(start.Add(oneTimeout)))
	if s.tick(start.Add(oneTimeout)); s.Err() != nil {
		t.Errorf("it was ended: %v", s.Err())
	}
	if s.tick(start.Add(2 * oneTimeout)); !errors.Is(s.Err(), session.ErrSessionLost) {
		t.Errorf("it was not: %v", s.Err())
	}
}

// renewing is an unconnected session that was attached at start, and that sent a renewal a quarter of a timeout later.
func renewing(t *testing.T) (s *whole, start time.Time) {
	t.Helper()
	s, _ = unconnected()
	start = s.clock.Now()
	s.onAttached(attachedAt(start))
	if _, err := s.Bind(func(error) {}, nil); err != nil {
		t.Fatal(err)
	}
	if s.tick(start.Add(oneTimeout / 4)); s.Runner.validity.renewal.sent.IsZero() {
		t.Fatal("got no renewal sent, want one")
	}
	return s, start
}

// A renewal that went down with its connection must not be held against the next one, whose handshake may be under way.
func TestARenewalIsForgottenWithItsConnection(t *testing.T) {
	s, start := renewing(t)
	s.onDetached(errors.New("broken"))
	if s.tick(start.Add(oneTimeout * 2 / 3)); !s.Runner.validity.renewal.sent.IsZero() {
		t.Errorf("got an answer expected since %v after the connection broke, want none", s.Runner.validity.renewal.sent)
	}
}

// A deposed leader answers the sync that an operation waits for, and not the renewal: the client must still leave it.
func TestASyncDoesNotAnswerTheRenewal(t *testing.T) {
	s, start := renewing(t)
	s.onAnswered(start.Add(oneTimeout/4), start.Add(oneTimeout/4), transport.ReachLeader)
	if s.Runner.validity.renewal.sent.IsZero() {
		t.Error("got a sync taken for the answer to the renewal, want the transaction's alone")
	}
	s.onAnswered(start.Add(oneTimeout/4), start.Add(oneTimeout/4), transport.ReachMajority)
	if !s.Runner.validity.renewal.sent.IsZero() {
		t.Errorf("got an answer expected since %v although the transaction's came, want none", s.Runner.validity.renewal.sent)
	}
}

func TestARefusalIsFinal(t *testing.T) {
	s, owner := unconnected()
	s.onAttached(attachedAt(s.clock.Now()))
	s.onFailed("zk:1", session.ErrAuthRefused)
	if !errors.Is(s.Err(), session.ErrAuthRefused) || !errors.Is(s.Err(), session.ErrSessionLost) || len(owner.failed) != 1 {
		t.Errorf("the session ended with %v, and reported %v", s.Err(), owner.failed)
	}
}

// The owner gives the work to the next session, which it makes when it hears of the end.
func TestTheOwnerHearsOfTheEndBeforeItGetsWhatIsLeft(t *testing.T) {
	var order []string
	events := (&ownerLog{}).hear()
	events.Over = func() { order = append(order, "over") }
	events.Backlog = func(Backlog) { order = append(order, "backlog") }
	s := newWhole(unconnectedConfig(), events)
	s.onAttached(attachedAt(s.clock.Now()))
	s.Runner.removals.remove("/left", true)
	s.end(session.ErrSessionLost, cause.Expired)
	if want := []string{"over", "backlog"}; !slices.Equal(order, want) {
		t.Errorf("got %q, want %q", order, want)
	}
}

// The answer comes without the mutex, so each change of what it depends on must reach it.
func TestASessionIsConnectedWhileItIsOnlineAndNotOver(t *testing.T) {
	s, _ := unconnected()
	want := func(when string, connected bool) {
		t.Helper()
		if got := s.Connected(); got != connected {
			t.Errorf("%s: got connected %t, want %t", when, got, connected)
		}
	}
	want("before the first connection", false)
	s.onAttached(attachedAt(s.clock.Now()))
	want("on a connection", true)
	s.onDetached(io.EOF)
	want("between two", false)
	s.onAttached(attachedAt(s.clock.Now()))
	want("on the next", true)
	s.end(session.ErrClosed, cause.ClientClosed)
	want("after the end", false)
	if err := s.waitAttached(t.Context()); !errors.Is(err, session.ErrClosed) {
		t.Errorf("got %v of a wait after the end, want %v", err, session.ErrClosed)
	}
}

func TestTheLeadersContactIsTheRequestThatItHasAnswered(t *testing.T) {
	zktest.Bubble(t, func(t *testing.T) {
		s, _ := unconnected()
		start := s.clock.Now()
		s.onAttached(attachedAt(start))
		time.Sleep(time.Minute)
		s.onAnswered(start.Add(20*time.Second), start.Add(time.Minute), transport.ReachLeader)
		if got := s.SinceLeaderContact(); got != 40*time.Second {
			t.Errorf("got %v since the contact, want 40s", got)
		}
	})
}
