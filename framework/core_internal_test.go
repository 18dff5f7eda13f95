package framework

import (
	"context"
	"errors"
	"log/slog"
	"net"
	"testing"

	"github.com/go-zookeeper/zk"

	"github.com/gocurator/curator/framework/internal/clock"
	"github.com/gocurator/curator/framework/internal/live"
	"github.com/gocurator/curator/framework/internal/transport"
)

// unconnected is what facades share of a client that was never started, with a session that has ended.
func unconnected() *core {
	logger := slog.New(slog.DiscardHandler)
	c := &core{
		changed: make(chan struct{}), failures: map[string]error{}, clock: clock.New(), support: transport.NewSupport(logger),
		cfg: config{
			logger: logger, servers: []string{"zk:1"}, acl: func(string) []zk.ACL { return nil },
			dial: func(context.Context, string, string) (net.Conn, error) { return nil, errors.New("nowhere") },
		},
	}
	c.queueCallbacks()
	closing := make(chan struct{})
	close(closing)
	c.change.State = StateConnected
	c.next(0).Run(closing)
	return c
}

// The reader has attached the session, and before it reports that, the session's clock ends the session.
func TestASessionThatIsOverMovesNothingAnyMore(t *testing.T) {
	c := unconnected()
	for _, e := range []event{eventAttached, eventDetached} {
		c.move(c.session.Session(), e, "", nil)
		if c.change.State != StateLost {
			t.Errorf("event %d made LOST %v", e, c.change.State)
		}
	}
}

// The session's clock ends it while the client moves to CONNECTED: the change has the server nevertheless.
func TestAStateChangeHasTheServerOfASessionThatEndsMeanwhile(t *testing.T) {
	c := unconnected()
	c.next(0) // without a connection, as a session is that has just ended
	c.move(c.session.Session(), eventAttached, "zk:1", nil)
	if got := c.change; got.State != StateReconnected || got.Server != "zk:1" {
		t.Errorf("got %v at %q, want %v at zk:1", got.State, got.Server, StateReconnected)
	}
}

func TestWorkForASessionThatIsOverIsCarriedToTheNext(t *testing.T) {
	c := unconnected()
	c.later(live.Backlog{Removals: []string{"/a"}})
	if got := c.carried.Removals; len(got) != 1 {
		t.Fatalf("carried %v, want /a", got)
	}
	next := c.next(0)
	if got := c.carried.Removals; len(got) != 0 {
		t.Errorf("carried %v although there is another session", got)
	}
	c.later(live.Backlog{Removals: []string{"/b"}})
	if got := c.carried.Removals; len(got) != 0 {
		t.Errorf("carried %v, want it in the present session", got)
	}
	closing := make(chan struct{})
	close(closing)
	next.Run(closing)
	if got := c.carried.Removals; len(got) != 2 {
		t.Errorf("the session has left %v, want /a and /b", got)
	}
}

func TestARefusalByTheServersIsRemembered(t *testing.T) {
	c := unconnected()
	c.failed("zk:1", ErrAuthRefused)
	if err := c.refusal(); !errors.Is(err, ErrAuthRefused) {
		t.Errorf("got %v, want %v", err, ErrAuthRefused)
	}
}
