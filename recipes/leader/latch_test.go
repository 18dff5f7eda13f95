package leader_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/framework/zktest"
	"github.com/gocurator/curator/recipes/leader"
	"github.com/gocurator/curator/recipes/locks"
)

func (p *peer) latch(opts ...leader.Option) *leader.LeaderLatch {
	return leader.NewLeaderLatch(p.Client, path, opts...)
}

// start starts a latch, which is closed at the end of the test unless it was before.
func start(t *testing.T, l *leader.LeaderLatch) *leader.LeaderLatch {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Hour)
	defer cancel()
	must(t, l.Start(ctx))
	t.Cleanup(func() { _ = l.Close() })
	return l
}

// awaitTerm returns the term that a latch gets within an hour.
func awaitTerm(t *testing.T, l *leader.LeaderLatch) *locks.Lease {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Hour)
	defer cancel()
	term, err := l.Await(ctx)
	must(t, err)
	return term
}

func TestOnlyLatchesCountForALatch(t *testing.T) {
	inBubble(t, func(t *testing.T, server *zktest.Server) {
		p := newPeer(t, server)
		term := lead(t, p.selector())
		for _, name := range []string{"0", "x-lock-0000000000", "x__lock__0000000000", "knatch-0000000000", "leases"} {
			must(t, server.Create(path+"/"+name, nil))
		}
		l := start(t, newPeer(t, server).latch())
		awaitTerm(t, l)
		if term.Err() != nil || len(server.Children(path)) != 7 {
			t.Errorf("the selector: %v; nodes %v", term.Err(), server.Children(path))
		}
		_, err := locks.NewInterProcessMutex(p.Client, path+"/0").TryAcquire(t.Context())
		wantErr(t, err, nil)
	})
}

func TestLatchStandsAgainAfterEachLoss(t *testing.T) {
	inBubble(t, func(t *testing.T, server *zktest.Server) {
		p := newPeer(t, server)
		l := start(t, p.latch(leader.WithID("a")))
		for name, lose := range map[string]func(term *locks.Lease){
			"expired": func(*locks.Lease) { expire(server, p.sessionID(t)) },
			"removed": func(term *locks.Lease) {
				time.Sleep(time.Second)
				wantErr(t, server.Delete(path+"/"+term.NodeName()), nil)
			},
			"outage": func(*locks.Lease) {
				p.link.Cut()
				time.Sleep(10 * time.Minute)
				p.link.Heal()
			},
			"released": func(term *locks.Lease) { wantErr(t, term.Release(), nil) },
		} {
			before := awaitTerm(t, l)
			lose(before)
			soon(t, before.Done())
			if term := awaitTerm(t, l); term.FencingToken() <= before.FencingToken() {
				t.Errorf("%s: got token %d after %d", name, term.FencingToken(), before.FencingToken())
			}
			wantNodes(t, server, 1)
		}
	})
}

// A write would leave a Java latch behind this one deaf to its end.
func TestNothingWritesToTheNodeOfALatch(t *testing.T) {
	inBubble(t, func(t *testing.T, server *zktest.Server) {
		p := newPeer(t, server, framework.WithDefaultData([]byte("the address")))
		l := start(t, p.latch())
		term := awaitTerm(t, l)
		time.Sleep(time.Hour)
		node := path + "/" + term.NodeName()
		if data, _ := server.Data(node); len(data) != 0 {
			t.Errorf("got data %q, want the empty id", data)
		}
		if stat, _ := server.Stat(node); stat.Version != 0 {
			t.Errorf("got version %d", stat.Version)
		}
		wantErr(t, locks.AttemptRevoke(t.Context(), p.Client, node), nil)
		synctest.Wait()
		select {
		case <-term.RevocationRequested():
			t.Error("got a request to leave, want none")
		default:
		}
	})
}

func TestLatchThatWaitsIsClosedWithoutANode(t *testing.T) {
	inBubble(t, func(t *testing.T, server *zktest.Server) {
		first, second := start(t, newPeer(t, server).latch()), start(t, newPeer(t, server).latch())
		awaits := begin(t, func() error { _, err := second.Await(t.Context()); return err })
		wantErr(t, second.Close(), nil)
		wantErr(t, second.Close(), nil)
		wantErr(t, awaits(), leader.ErrNotStarted)
		synctest.Wait()
		wantNodes(t, server, 1)
		wantErr(t, second.Start(t.Context()), leader.ErrStarted)
		wantErr(t, first.Start(t.Context()), leader.ErrStarted)
		wantErr(t, newPeer(t, server).latch().Close(), nil)
		_, err := newPeer(t, server).latch().Await(t.Context())
		wantErr(t, err, leader.ErrNotStarted)
	})
}

func TestStartThatFailsLeavesTheLatchAsItWas(t *testing.T) {
	inBubble(t, func(t *testing.T, server *zktest.Server) {
		p := newPeer(t, server)
		l := p.latch()
		p.link.Cut()
		time.Sleep(time.Second)
		var unreachable *framework.ConnectError
		if err := l.Start(t.Context()); !errors.As(err, &unreachable) {
			t.Errorf("got %v", err)
		}
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		wantErr(t, l.Start(ctx), context.DeadlineExceeded)
		wantNodes(t, server, 0)
		p.link.Heal()
		awaitTerm(t, start(t, l))
		_ = p.Close()
		synctest.Wait()
		ctx, cancel = context.WithTimeout(t.Context(), time.Hour)
		defer cancel()
		_, err := l.Await(ctx)
		wantErr(t, err, framework.ErrClosed)
		wantErr(t, p.latch().Start(t.Context()), framework.ErrClosed)
		if leader.NewLeaderLatch(nil, path).Start(t.Context()) == nil || leader.NewLeaderLatch(p.Client, "a", nil).Start(t.Context()) == nil {
			t.Error("got no error of Start after misuse, want one")
		}
	})
}

func TestCloseEndsAStartThatWaits(t *testing.T) {
	inBubble(t, func(t *testing.T, server *zktest.Server) {
		p := newPeer(t, server)
		p.link.Mute()
		l := p.latch()
		starts := begin(t, func() error { return l.Start(t.Context()) })
		begun := time.Now()
		wantErr(t, l.Close(), nil)
		wantErr(t, starts(), leader.ErrNotStarted)
		if took := time.Since(begun); took != 0 {
			t.Errorf("it took %v", took)
		}
	})
}

// A latch is a participant of its own, also if a term of the same election is in the context of its Start.
func TestLatchThatIsStartedWithinATermStandsBehindIt(t *testing.T) {
	inBubble(t, func(t *testing.T, server *zktest.Server) {
		p := newPeer(t, server)
		first, second := start(t, p.latch()), p.latch()
		term := awaitTerm(t, first)
		wantErr(t, second.Start(term.Context(t.Context())), nil)
		t.Cleanup(func() { _ = second.Close() })
		synctest.Wait()
		wantNodes(t, server, 2)
		if second.HasLeadership() {
			t.Error("got both leading, want the first alone")
		}
		wantErr(t, first.Close(), nil)
		if next := awaitTerm(t, second); next.FencingToken() <= term.FencingToken() {
			t.Errorf("got token %d after %d", next.FencingToken(), term.FencingToken())
		}
	})
}
