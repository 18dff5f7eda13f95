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
)

// watched runs an observation on another goroutine.
type watched struct {
	news chan string
	err  error // after news was closed
}

func observe(ctx context.Context, s *leader.LeaderSelector) *watched {
	w := &watched{news: make(chan string, 100)}
	go func() {
		defer close(w.news)
		for p, err := range s.Observe(ctx) {
			if w.err = err; err != nil {
				continue
			}
			if p != (leader.Participant{}) && !p.IsLeader {
				p.ID += " does not lead"
			}
			w.news <- p.ID
		}
	}()
	return w
}

// want reads the next leader, and that there is no other one after it.
func (w *watched) want(t *testing.T, id string) {
	t.Helper()
	select {
	case got := <-w.news:
		if got != id {
			t.Errorf("observed %q, want %q", got, id)
		}
	case <-time.After(time.Minute):
		t.Errorf("observed nothing, want %q", id)
	}
	synctest.Wait()
	if len(w.news) > 0 {
		t.Errorf("observed %q as well", <-w.news)
	}
}

func TestObserveYieldsEachLeader(t *testing.T) {
	inBubble(t, func(t *testing.T, server *zktest.Server) {
		ctx, cancel := context.WithCancel(t.Context())
		w := observe(ctx, newPeer(t, server).selector())
		w.want(t, "") // the directory does not exist
		first := lead(t, newPeer(t, server).selector(leader.WithID("first")))
		w.want(t, "first")
		second := newPeer(t, server).selector(leader.WithID("second"))
		next := begin(t, func() error {
			return second.RunOnce(t.Context(), func(context.Context) error { return nap(time.Minute) })
		})
		wantErr(t, first.Release(), nil)
		w.want(t, "second")
		wantErr(t, next(), nil)
		w.want(t, "") // the directory is empty
		third := lead(t, second)
		w.want(t, "second") // another term
		wantErr(t, third.Release(), nil)
		w.want(t, "")
		must(t, server.Delete(path))
		synctest.Wait()
		lead(t, newPeer(t, server).selector(leader.WithID("third")))
		w.want(t, "third")
		cancel()
		if _, open := <-w.news; open {
			t.Error("got further news after the context ended, want none")
		}
		wantErr(t, w.err, context.Canceled)
	})
}

func nap(d time.Duration) error {
	time.Sleep(d)
	return nil
}

func TestObserveOutlastsSessions(t *testing.T) {
	inBubble(t, func(t *testing.T, server *zktest.Server) {
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		p := newPeer(t, server)
		first := lead(t, newPeer(t, server).selector(leader.WithID("first")))
		w := observe(ctx, p.selector())
		w.want(t, "first")
		expire(server, p.sessionID(t))
		time.Sleep(time.Minute)
		p.link.Cut()
		time.Sleep(time.Minute)
		if len(w.news) > 0 {
			t.Errorf("observed %q, though nothing has changed", <-w.news)
		}
		wantErr(t, first.Release(), nil)
		lead(t, newPeer(t, server).selector(leader.WithID("second")))
		p.link.Heal()
		w.want(t, "second")
		_ = p.Close()
		for range w.news {
			t.Error("got further news after Close, want none")
		}
		wantErr(t, w.err, framework.ErrClosed)
	})
}

// A watch that were left behind would be an error of the server at the end of the test.
func TestObservationThatBreaksLeavesNoWatch(t *testing.T) {
	inBubble(t, func(t *testing.T, server *zktest.Server) {
		p := newPeer(t, server)
		for range 2 {
			for _, err := range p.selector().Observe(t.Context()) {
				wantErr(t, err, nil)
				time.Sleep(time.Second)
				break
			}
			synctest.Wait()
			if watches := server.WatchCount(); watches != 0 {
				t.Errorf("%d watches are left", watches)
			}
			wantErr(t, lead(t, p.selector()).Release(), nil)
		}
	})
}

func TestObservationThatEndsLeavesNoWatch(t *testing.T) {
	inBubble(t, func(t *testing.T, server *zktest.Server) {
		p := newPeer(t, server)
		ends := func(state, id string) {
			t.Helper()
			time.Sleep(time.Second)
			before := server.WatchCount()
			ctx, cancel := context.WithCancel(t.Context())
			w := observe(ctx, p.selector())
			w.want(t, id)
			if server.WatchCount() == before {
				t.Errorf("%s: nothing is watched", state)
			}
			cancel()
			for range w.news {
			}
			synctest.Wait()
			if got := server.WatchCount(); got != before {
				t.Errorf("%s: %d watches, %d before", state, got, before)
			}
		}
		ends("no directory", "")
		term := lead(t, newPeer(t, server).selector(leader.WithID("a")))
		ends("a leader", "a")
		wantErr(t, server.Create(path+"/0", nil), nil) // a stranger, so that the directory stays
		wantErr(t, term.Release(), nil)
		ends("a directory without participants", "")
	})
}

// Many participants watch each other; the observer has one watch, on the first.
func TestObserverWatchesTheLeaderAlone(t *testing.T) {
	inBubble(t, func(t *testing.T, server *zktest.Server) {
		term := lead(t, newPeer(t, server).selector(leader.WithID("first")))
		time.Sleep(time.Second)
		before := server.WatchCount()
		ctx, cancel := context.WithCancel(t.Context())
		w := observe(ctx, newPeer(t, server).selector())
		w.want(t, "first")
		if got := server.WatchCount() - before; got != 1 || server.Watches(path+"/"+term.NodeName()) != 2 {
			t.Errorf("got %d more watches, %d on the leader", got, server.Watches(path+"/"+term.NodeName()))
		}
		cancel()
		for range w.news {
		}
	})
}

func TestObserveWithoutAConnectionFails(t *testing.T) {
	inBubble(t, func(t *testing.T, server *zktest.Server) {
		p := newPeer(t, server)
		p.link.Cut()
		time.Sleep(time.Second)
		var unreachable *framework.ConnectError
		for _, err := range p.selector().Observe(t.Context()) {
			if !errors.As(err, &unreachable) {
				t.Errorf("got %v", err)
			}
		}
		if unreachable == nil {
			t.Error("got no error, want a *framework.ConnectError")
		}
	})
}

// Each listing shows the leader, and each look at its node shows that it has gone, as by servers that are not equally
// far.
func TestObserverPausesWhileALeaderComesAndGoes(t *testing.T) {
	inBubble(t, func(t *testing.T, server *zktest.Server) {
		const most = 12
		p, node, rounds := newPeer(t, server), path+"/lock-0000000001", 0
		for _, dir := range []string{"/leaders", path} {
			wantErr(t, server.Create(dir, nil), nil)
		}
		observed := p.sessionID(t)
		defer server.Observe(func(r zktest.Request) {
			switch {
			case r.Session != observed || rounds == most:
			case r.Op == zktest.OpGetChildren2 && r.Path == path:
				rounds++
				_ = server.Create(node, nil)
			case r.Path == node:
				_ = server.Delete(node)
			}
		})()
		begun := time.Now()
		for leads, err := range p.selector().Observe(t.Context()) {
			wantErr(t, err, nil)
			if leads.Path != node {
				t.Errorf("got leader %+v, want the one at %s", leads, node)
			}
			break
		}
		if took := time.Since(begun); rounds != most || took < time.Second {
			t.Errorf("got %d rounds within %v, want %d with growing pauses", rounds, took, most)
		}
	})
}
