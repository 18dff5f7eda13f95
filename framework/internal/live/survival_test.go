package live_test

import (
	"errors"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/framework/internal/clienttest"
	"github.com/gocurator/curator/framework/session"
)

const (
	removed = "the node was removed, by another session or by hand"
	either  = removed + ", or with its own session"
)

// What follows the removal of a node decides what it was, once and for all.
func TestTheLossOfANodeIsExplainedByWhatFollows(t *testing.T) {
	for name, test := range map[string]struct {
		follow func(w *env)
		kind   session.LossKind
		want   string
	}{
		"an answer": {func(*env) {}, session.LossNodeRemoved, removed},
		"a connection to the same session": {func(w *env) {
			w.Link.Reset()
			time.Sleep(clienttest.SessionTimeout / 2)
		}, session.LossNodeRemoved, removed},
		"the end of the session": {func(w *env) {
			w.Server.ExpireSession(w.Session().ID())
		}, session.LossSessionEnded, "the servers ended the session, which was valid by this client's clock"},
		"an outage, and the end of the session": {func(w *env) {
			w.Link.Cut()
			time.Sleep(2 * clienttest.SessionTimeout)
		}, session.LossNodeRemoved, either},
		"an outage until the servers have ended the session, and no longer": {func(w *env) {
			w.Link.Cut()
			w.Server.ExpireSession(w.Session().ID())
			time.Sleep(clienttest.SessionTimeout / 2)
			w.Link.Heal()
		}, session.LossSessionEnded, "the servers ended the session, which was valid by this client's clock"},
		"the client's end": {func(w *env) { _ = w.Client.Close() }, session.LossNodeRemoved, either},
	} {
		t.Run(name, func(t *testing.T) {
			bubble(t, func(t *testing.T, w *env) {
				s := w.Session()
				stop := s.StartRenewal()
				defer stop()
				time.Sleep(clienttest.SessionTimeout + time.Second) // no renewal is under way
				lost := s.NodeLost()
				if got := session.Explain(lost); got.Kind != session.LossNodeRemoved || got.Sentence != either {
					t.Errorf("right after the removal: got %v: %s, want %s", got.Kind, got, either)
				}
				var calls atomic.Int32
				lost.OnSettled(func() { calls.Add(1) })
				synctest.Wait()
				if calls.Load() != 0 {
					t.Error("got a settlement with nothing to settle it")
				}
				test.follow(w)
				time.Sleep(clienttest.SessionTimeout / 2)
				synctest.Wait()
				for _, when := range []string{"then", "after the session's end"} {
					if got := session.Explain(lost); got.Kind != test.kind || got.Sentence != test.want {
						t.Errorf("%s: got %v: %s, want %v: %s", when, got.Kind, got, test.kind, test.want)
					}
					if calls.Load() != 1 {
						t.Errorf("%s: got %d calls, want 1", when, calls.Load())
					}
					w.Link.Heal()
					w.Server.ExpireSession(s.ID())
					time.Sleep(clienttest.SessionTimeout / 2)
				}
				if lost.OnSettled(func() { calls.Add(1) }); calls.Load() != 2 {
					t.Errorf("got %d calls, want one more at once", calls.Load())
				}
				if !errors.Is(lost, session.ErrNodeDeleted) {
					t.Errorf("got %v, want ErrNodeDeleted", lost)
				}
			})
		})
	}
}

func TestTheLossOfANodeAfterTheSessionsEndIsTheSessions(t *testing.T) {
	bubble(t, func(t *testing.T, w *env) {
		s := w.Session()
		w.Server.ExpireSession(s.ID())
		<-s.Done()
		lost := s.NodeLost()
		var calls atomic.Int32
		lost.OnSettled(func() { calls.Add(1) })
		if got := session.Explain(lost); got.Kind != session.LossSessionEnded || calls.Load() != 1 {
			t.Errorf("got %v: %s, and %d calls; want the end of the session, and 1", got.Kind, got, calls.Load())
		}
	})
}

// Under StandardErrorPolicy leases end with the connection, also if that ends with its session.
func TestALostConnectionIsExplainedByTheSessionThatEndedWithIt(t *testing.T) {
	for name, test := range map[string]struct {
		lose func(w *env)
		want session.LossKind
	}{
		"a reset": {func(w *env) { w.Link.Reset() }, session.LossConnectionLost},
		"a reset, and the session's end later": {func(w *env) {
			w.Link.Reset()
			w.Connected()
			time.Sleep(clienttest.SessionTimeout)
			w.Server.ExpireSession(w.Session().ID())
		}, session.LossConnectionLost},
		"a reset, and the session's end right after": {func(w *env) {
			w.Link.Reset()
			w.Connected()
			w.Server.ExpireSession(w.Session().ID())
		}, session.LossConnectionLost},
		"an outage that the session did not outlive": {func(w *env) {
			w.Link.Cut()
			time.Sleep(2 * clienttest.SessionTimeout)
		}, session.LossConnectionLost},
		"an expiry": {func(w *env) { w.Server.ExpireSession(w.Session().ID()) }, session.LossSessionEnded},
	} {
		t.Run(name, func(t *testing.T) {
			bubble(t, func(t *testing.T, w *env) {
				causes, early := bind(t, w, 1, true)
				time.Sleep(clienttest.SessionTimeout)
				test.lose(w)
				time.Sleep(clienttest.SessionTimeout / 2)
				synctest.Wait()
				if early[0].Kind != session.LossConnectionLost {
					t.Errorf("at first got %v: %s, want a lost connection", early[0].Kind, early[0])
				}
				if got := session.Explain(causes[0]); got.Kind != test.want || !errors.Is(causes[0], session.ErrSuspended) {
					t.Errorf("got %v: %s of %v, want %v", got.Kind, got, causes[0], test.want)
				}
				w.Link.Heal()
			}, framework.WithErrorPolicy(framework.StandardErrorPolicy))
		})
	}
}
