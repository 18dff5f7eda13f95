package live_test

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-zookeeper/zk"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/framework/internal/clienttest"
	"github.com/gocurator/curator/framework/zktest"
)

func TestLeasesLiveOnTransactions(t *testing.T) {
	bubble(t, func(t *testing.T, w *env) {
		w.Create("/held", framework.WithMode(framework.Ephemeral))
		time.Sleep(10 * clienttest.SessionTimeout)
		if n := w.Count(zktest.OpMulti); n != 0 {
			t.Errorf("%d renewals with nothing held", n)
		}
		s := w.Session()
		must(t, s.BlockUntilValid(t.Context()))
		h := w.Bind()
		before := w.Count(zktest.OpMulti)
		time.Sleep(10 * clienttest.SessionTimeout)
		synctest.Wait()
		wantErr(t, h.Err())
		if n := w.Count(zktest.OpMulti) - before; n < 39 || n > 41 || w.Count(zktest.OpSync) != 0 {
			t.Errorf("%d transactions and %d syncs in ten timeouts, want 40 and none", n, w.Count(zktest.OpSync))
		}
		h.Release()
	})
}

// A leader that does not know that it has been deposed answers everything but what needs a majority.
func TestNothingElseRenewsABinding(t *testing.T) {
	bubble(t, func(t *testing.T, w *env) {
		w.Create("/held", framework.WithMode(framework.Ephemeral))
		h := w.Bind()
		until := h.ValidUntil()
		for nth := range 1000 {
			// each ends its connection, so there are handshakes, too
			w.Server.DropRequest(zktest.Match{Op: zktest.OpMulti, Nth: nth + 1})
		}
		for range 200 {
			ctx, cancel := context.WithTimeout(t.Context(), clienttest.SessionTimeout/20)
			_ = w.Client.Sync(ctx, "/")
			_, _ = w.Client.Exists(ctx, "/held")
			cancel()
			time.Sleep(clienttest.SessionTimeout / 60)
		}
		if !h.Ended() || h.Err() == nil {
			t.Errorf("got a binding kept by syncs, reads and handshakes (error %v), want it ended", h.Err())
		}
		if got := h.ValidUntil(); got.After(until.Add(clienttest.SessionTimeout / 4)) {
			t.Errorf("it was valid until %v after the time that was known when the transactions ceased", got.Sub(until))
		}
	})
}

func TestAnOutageIsSurvived(t *testing.T) {
	bubble(t, func(t *testing.T, w *env) {
		w.Create("/held", framework.WithMode(framework.Ephemeral))
		h := w.Bind()
		time.Sleep(clienttest.SessionTimeout)
		w.Link.Cut()
		time.Sleep(clienttest.SessionTimeout / 4)
		w.Link.Heal()
		w.Eventually("attached", func() bool { return w.Client.State().IsConnected() })
		attached := time.Now()
		w.Eventually("renewed", func() bool {
			return h.ValidUntil().After(attached.Add(clienttest.SessionTimeout*9/10)) || h.Err() != nil
		})
		wantErr(t, h.Err())
		if waited := time.Since(attached); waited > clienttest.SessionTimeout/20 {
			t.Errorf("renewed %v after the handshake: the first transaction makes it an anchor", waited)
		}
		h.Release()
	})
}

func TestWatchesAreKeptBySyncs(t *testing.T) {
	bubble(t, func(t *testing.T, w *env) {
		w.Make("/a")
		s := w.Session()
		watch := s.WatchData("/a", func() {})
		multis, syncs := w.Count(zktest.OpMulti), w.Count(zktest.OpSync)
		time.Sleep(10 * clienttest.SessionTimeout)
		if n := w.Count(zktest.OpMulti) - multis; n != 0 {
			t.Errorf("%d transactions for a watch, want none", n)
		}
		if n := w.Count(zktest.OpSync) - syncs; n < 39 || n > 41 {
			t.Errorf("%d syncs for a watch in ten timeouts, want 40", n)
		}
		stop := s.StartRenewal() // as a contender does
		time.Sleep(10 * clienttest.SessionTimeout)
		if n := w.Count(zktest.OpMulti) - multis; n < 39 || n > 41 {
			t.Errorf("%d transactions for a contender in ten timeouts, want 40", n)
		}
		if _, err := s.Bind(func(error) {}, nil); err != nil {
			t.Errorf("no hold can begin: %v", err)
		}
		stop()
		watch.Stop()
	})
}

// The server answers the sync that a watch had sent only after a hold has begun. The sync proves nothing for the hold.
func TestABindingThatBeginsBehindASyncIsRenewedImmediately(t *testing.T) {
	bubble(t, func(t *testing.T, w *env) {
		w.Make("/a")
		s := w.Session()
		watch := s.WatchData("/a", func() {})
		defer watch.Stop()
		synctest.Wait()
		w.Link.SetLatency(clienttest.SessionTimeout / 12) // the answer to the next sync takes a sixth of the timeout
		syncs, multis := w.Count(zktest.OpSync), w.Count(zktest.OpMulti)
		w.Eventually("a sync", func() bool { return w.Count(zktest.OpSync) > syncs })
		h := w.Bind()
		begun := time.Now()
		w.Eventually("a transaction", func() bool { return w.Count(zktest.OpMulti) > multis })
		if waited := time.Since(begun); waited > clienttest.SessionTimeout/12+20*time.Millisecond {
			t.Errorf("the transaction arrived %v after the hold began, want %v", waited, clienttest.SessionTimeout/12)
		}
		h.Release()
	})
}

// A check of a node needs the right to read it. A refusal is written down by a majority all the same.
func TestForARenewalTheRootNeedNotBeReadable(t *testing.T) {
	bubble(t, func(t *testing.T, w *env) {
		w.Create("/held", framework.WithMode(framework.Ephemeral))
		stat, err := w.Client.Exists(t.Context(), "/")
		must(t, err)
		if _, err := w.Client.SetACL(t.Context(), "/", zk.DigestACL(zk.PermAll, "some", "body"), stat.Aversion); err != nil {
			t.Fatal(err)
		}
		h := w.Bind()
		time.Sleep(10 * clienttest.SessionTimeout)
		wantErr(t, h.Err())
		h.Release()
	})
}
