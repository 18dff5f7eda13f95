package framework_test

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/framework/zktest"
)

// inQuorumBubble is bubble with a client that renews by quorum and does not believe syncs.
func inQuorumBubble(t *testing.T, f func(t *testing.T, w *world)) {
	t.Helper()
	bubble(t, f, framework.WithQuorumRenewal())
}

func TestWithQuorumRenewalLeasesLiveOnTransactions(t *testing.T) {
	inQuorumBubble(t, func(t *testing.T, w *world) {
		w.create("/held", framework.WithMode(framework.Ephemeral))
		time.Sleep(10 * session)
		if n := w.count(zktest.OpMulti); n != 0 {
			t.Errorf("%d renewals with nothing held", n)
		}
		s := w.session()
		if err := s.Ready(t.Context()); err != nil {
			t.Fatal(err)
		}
		h := w.hold()
		before := w.count(zktest.OpMulti)
		time.Sleep(10 * session)
		synctest.Wait()
		if err := h.Err(); err != nil {
			t.Errorf("the hold was lost: %v", err)
		}
		if n := w.count(zktest.OpMulti) - before; n < 39 || n > 41 || w.count(zktest.OpSync) != 0 {
			t.Errorf("%d transactions and %d syncs in ten timeouts, want 40 and none", n, w.count(zktest.OpSync))
		}
		h.Release()
	})
}

// A leader that does not know that it has been deposed answers everything but what needs a majority.
func TestWithQuorumRenewalNothingElseRenewsAHold(t *testing.T) {
	inQuorumBubble(t, func(t *testing.T, w *world) {
		w.create("/held", framework.WithMode(framework.Ephemeral))
		h := w.hold()
		until := h.ValidUntil()
		for nth := range 1000 {
			w.srv.DropRequest(zktest.Match{Op: zktest.OpMulti, Nth: nth + 1}) // each ends its connection, so there are handshakes, too
		}
		for range 200 {
			ctx, cancel := context.WithTimeout(t.Context(), session/20)
			_ = w.client.Sync(ctx, "/")
			_, _ = w.client.Exists(ctx, "/held")
			cancel()
			time.Sleep(session / 60)
		}
		if !h.ended() || h.Err() == nil {
			t.Error("syncs, reads and handshakes kept the hold alive")
		}
		if got := h.ValidUntil(); got.After(until.Add(session / 4)) {
			t.Errorf("it was valid until %v after the time that was known when the transactions ceased", got.Sub(until))
		}
	})
}

func TestWithQuorumRenewalAnOutageIsSurvived(t *testing.T) {
	inQuorumBubble(t, func(t *testing.T, w *world) {
		w.create("/held", framework.WithMode(framework.Ephemeral))
		h := w.hold()
		time.Sleep(session)
		w.link.Cut()
		time.Sleep(session / 4)
		w.link.Heal()
		w.eventually("attached", func() bool { return w.client.State().IsConnected() })
		attached := time.Now()
		w.eventually("renewed", func() bool { return h.ValidUntil().After(attached.Add(session*9/10)) || h.Err() != nil })
		if err := h.Err(); err != nil {
			t.Errorf("the hold was lost: %v", err)
		}
		if waited := time.Since(attached); waited > session/20 {
			t.Errorf("renewed %v after the handshake: the first transaction makes it an anchor", waited)
		}
		h.Release()
	})
}
