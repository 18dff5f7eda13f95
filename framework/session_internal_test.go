package framework

import (
	"context"
	"errors"
	"log/slog"
	"net"
	"testing"
	"time"

	"github.com/gocurator/curator/framework/internal/clock"
	"github.com/gocurator/curator/framework/internal/transport"
)

const oneTimeout = 12 * time.Second

// unconnected is a session of a client whose transport was never started: what happens to it is called by hand.
func unconnected() *Session {
	c := &core{
		changed: make(chan struct{}), failures: map[string]error{},
		cfg: config{logger: slog.New(slog.DiscardHandler), servers: []string{"zk:1"}},
	}
	s := newSession(c)
	c.session = s
	s.transport = transport.New(transport.Config{Servers: c.cfg.servers, Logger: c.cfg.logger, Dial: func(context.Context, string, string) (net.Conn, error) {
		return nil, errors.New("nowhere")
	}})
	return s
}

func attachedAt(sent time.Time) transport.Attachment {
	return transport.Attachment{SessionID: 7, Timeout: oneTimeout, Sent: sent, Received: sent, Server: "zk:1"}
}

// The process is suspended, and so are its timers; the first thing that happens after it is the answer to a sync that was sent
// before.
func TestALateAnswerDoesNotReviveAHold(t *testing.T) {
	s := unconnected()
	now := clock.Now()
	s.onAttached(attachedAt(now))
	var cause error
	h, err := s.Hold(func(err error) { cause = err })
	if err != nil {
		t.Fatal(err)
	}
	s.onAnswered(now.Add(oneTimeout/4), now.Add(oneTimeout/4), false)
	s.onAnswered(now.Add(oneTimeout*3/4), now.Add(oneTimeout), true)
	if !errors.Is(cause, ErrLapsed) || !errors.Is(h.Err(), ErrLapsed) {
		t.Errorf("the hold was told %v, and says %v", cause, h.Err())
	}
	if s.term == nil {
		t.Error("no new term has begun")
	}
}

// The reader has attached the session, and before it tells so the guard ends it.
func TestASessionThatIsOverMovesNothingAnyMore(t *testing.T) {
	s := unconnected()
	s.onAttached(attachedAt(clock.Now()))
	s.end(ErrSessionLost)
	for _, e := range []event{eventAttached, eventDetached} {
		s.core.move(s, e)
		if s.core.state != StateLost {
			t.Errorf("event %d made LOST %v", e, s.core.state)
		}
	}
}

// The guard finds the timeout over, and before it can end the session the reader attaches it again.
func TestAnAttachmentInTimeIsNotEndedForWhatWasBefore(t *testing.T) {
	s := unconnected()
	start := clock.Now()
	s.onAttached(attachedAt(start))
	s.onDetached(errors.New("broken"))
	s.onAttached(attachedAt(start.Add(oneTimeout)))
	if s.tick(start.Add(oneTimeout)); s.Err() != nil {
		t.Errorf("it was ended: %v", s.Err())
	}
	if s.tick(start.Add(2 * oneTimeout)); !errors.Is(s.Err(), ErrSessionLost) {
		t.Errorf("it was not: %v", s.Err())
	}
}

// A renewal that went down with its connection must not be held against the next one, whose handshake may be under way.
func TestARenewalIsForgottenWithItsConnection(t *testing.T) {
	s := unconnected()
	start := clock.Now()
	s.onAttached(attachedAt(start))
	if _, err := s.Hold(func(error) {}); err != nil {
		t.Fatal(err)
	}
	s.tick(start.Add(oneTimeout / 4))
	if s.asked.IsZero() {
		t.Fatal("the leader was not asked")
	}
	s.onDetached(errors.New("broken"))
	if s.tick(start.Add(oneTimeout * 2 / 3)); !s.asked.IsZero() {
		t.Error("an answer is still expected, and the connection would be given up for the lack of it")
	}
}

func TestWhatIsLeftToASessionThatIsOverGoesToTheNext(t *testing.T) {
	s := unconnected()
	s.end(ErrSessionLost)
	s.sweep(orphan{dir: "/a", prefix: "_c_persistent", carry: true})
	s.sweep(orphan{dir: "/a", prefix: "_c_ephemeral"})
	if r := s.remove("/a/b", true); !errors.Is(r.Err(), ErrSessionLost) {
		t.Errorf("a removal in a session that is over says %v", r.Err())
	}
	s.core.later(leftovers{removals: []string{"/a/c"}})
	c := s.core.carried
	if len(c.orphans) != 1 || c.orphans[0].prefix != "_c_persistent" || len(c.removals) != 2 {
		t.Errorf("carried: %+v", c)
	}
	next := newSession(s.core)
	next.transport = s.transport
	if !next.adopt(c) || len(next.orphans) != 1 || len(next.removals) != 2 {
		t.Errorf("adopted: %v, %v", next.orphans, next.removals)
	}
}

func TestARefusalIsFinal(t *testing.T) {
	s := unconnected()
	s.onAttached(attachedAt(clock.Now()))
	s.onFailed("zk:1", ErrAuthRefused)
	if !errors.Is(s.Err(), ErrAuthRefused) || !errors.Is(s.Err(), ErrSessionLost) || s.core.refusal() == nil {
		t.Errorf("session %v, client %v", s.Err(), s.core.refusal())
	}
}
