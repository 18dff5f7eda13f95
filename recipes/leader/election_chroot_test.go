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
	"github.com/gocurator/curator/retry"
)

// wipe deletes the chroot /app with all below it, as an ensemble that is rebuilt does, and ends the session of p.
func wipe(t *testing.T, server *zktest.Server, p *peer) {
	t.Helper()
	id := p.sessionID(t)
	for _, child := range server.Children("/app" + path) {
		wantErr(t, server.Delete("/app"+path+"/"+child), nil)
	}
	for _, node := range []string{path, "/leaders", ""} {
		wantErr(t, server.Delete("/app"+node), nil)
	}
	expire(server, id)
}

// rebuilt starts something with a client in the chroot, and lets an hour pass in which the servers lack that.
func rebuilt(t *testing.T, server *zktest.Server, opts []framework.Option, start func(p *peer)) *peer {
	t.Helper()
	wantErr(t, server.Create("/app", nil), nil)
	p := newPeerAt(t, server, "/app", opts...)
	start(p)
	wipe(t, server, p)
	time.Sleep(time.Hour)
	return p
}

func TestLatchLeadsAgainWhenTheChrootIsMadeAnew(t *testing.T) {
	inBubble(t, func(t *testing.T, server *zktest.Server) {
		var l *leader.LeaderLatch
		var before *locks.Lease
		rebuilt(t, server, nil, func(p *peer) {
			l = start(t, p.latch())
			before = awaitTerm(t, l)
		})
		_, err := l.Await(t.Context())
		wantErr(t, err, framework.ErrNoChroot)
		wantErr(t, before.Err(), locks.ErrLeaseLost)
		wantErr(t, server.Create("/app", nil), nil)
		time.Sleep(time.Minute)
		if term := awaitTerm(t, l); !l.HasLeadership() || term == before {
			t.Errorf("got leadership %t in term %v, want it in a new one", l.HasLeadership(), term)
		}
	})
}

// A missing chroot is a failure: the policy says how often.
func TestRunGoesOnWithoutAChrootAsThePolicyAllows(t *testing.T) {
	for name, policy := range map[string]retry.Policy{"for ever": retry.Forever(time.Second), "thrice": retry.NTimes(3, time.Second)} {
		inBubble(t, func(t *testing.T, server *zktest.Server) {
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			var run func() error
			terms := 0
			rebuilt(t, server, []framework.Option{framework.WithRetryPolicy(policy)}, func(p *peer) {
				run = begin(t, func() error {
					return p.selector().Run(ctx, func(ctx context.Context) error {
						terms++
						return untilDone(ctx)
					})
				})
			})
			if name == "thrice" {
				var gaveUp *retry.Error
				err := run()
				if wantErr(t, err, framework.ErrNoChroot); !errors.As(err, &gaveUp) || gaveUp.Attempts != 4 {
					t.Errorf("got %v, want it after 4 tries", err)
				}
				return
			}
			wantErr(t, server.Create("/app", nil), nil)
			time.Sleep(time.Minute)
			synctest.Wait()
			if terms != 2 {
				t.Errorf("got %d terms, want another one", terms)
			}
			cancel()
			wantErr(t, run(), context.Canceled)
		})
	}
}

func TestObserveEndsWithAMissingChroot(t *testing.T) {
	inBubble(t, func(t *testing.T, server *zktest.Server) {
		var w *watched
		rebuilt(t, server, nil, func(p *peer) {
			lead(t, p.selector(leader.WithID("a")))
			w = observe(t.Context(), p.selector())
			w.want(t, "a")
		})
		for range w.news { // perhaps that there is no leader, from before the chroot went
		}
		wantErr(t, w.err, framework.ErrNoChroot)
	})
}
