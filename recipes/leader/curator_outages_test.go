package leader_test

import (
	"context"
	"errors"
	"net"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-zookeeper/zk"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/framework/zktest"
	"github.com/gocurator/curator/recipes/leader"
	"github.com/gocurator/curator/recipes/locks"
	"github.com/gocurator/curator/retry"
)

// Java's selector with autoRequeue asks again as fast as it can, and its latch never again.
func TestCandidateWithoutPermissionFails(t *testing.T) {
	inBubble(t, func(t *testing.T, server *zktest.Server) {
		p := newPeer(t, server)
		for _, dir := range []string{"/leaders", path} {
			must(t, server.Create(dir, nil))
		}
		if _, err := p.SetACL(t.Context(), path, zk.WorldACL(zk.PermRead|zk.PermAdmin), -1); err != nil {
			t.Fatal(err)
		}
		l := p.latch()
		wantErr(t, l.Start(t.Context()), zk.ErrNoAuth)
		wantErr(t, p.selector().RunOnce(t.Context(), nothing), zk.ErrNoAuth)
		creates := 0
		defer server.Observe(func(r zktest.Request) {
			if r.Op == zktest.OpCreate2 {
				creates++
			}
		})()
		wantErr(t, p.selector().Run(t.Context(), nothing), zk.ErrNoAuth, retry.ErrExhausted)
		if creates != 1+retries {
			t.Errorf("got %d creates, want %d", creates, 1+retries)
		}
		if _, err := p.SetACL(t.Context(), path, zk.WorldACL(zk.PermAll), -1); err != nil {
			t.Fatal(err)
		}
		awaitTerm(t, start(t, l))
	})
}

// The end of a leader during an outage leaves no node when the server is back.
func TestLeaderThatEndsDuringAnOutageLeavesNoNode(t *testing.T) {
	inBubble(t, func(t *testing.T, server *zktest.Server) {
		p := newPeer(t, server, framework.WithSessionTimeout(time.Minute))
		l := start(t, p.latch())
		awaitTerm(t, l)
		ctx, cancel := context.WithCancel(t.Context())
		leads := make(chan struct{})
		run := begin(t, func() error {
			return leader.NewLeaderSelector(p.Client, "/leaders/b").Run(ctx, func(ctx context.Context) error {
				close(leads)
				return untilDone(ctx)
			})
		})
		soon(t, leads)
		server.RefuseConnections(true)
		server.CutAll()
		time.Sleep(time.Second)
		cancel()
		var unsure *locks.ReleaseError
		if err := run(); !errors.As(err, &unsure) || !errors.Is(err, context.Canceled) {
			t.Errorf("got %v, want the end of ctx and a release that is not confirmed", err)
		}
		if err := l.Close(); !errors.As(err, &unsure) {
			t.Errorf("got %v, want a release that is not confirmed", err)
		}
		server.RefuseConnections(false)
		time.Sleep(10 * time.Second) // much less than the session
		wantNodes(t, server, 0)
		if nodes := server.Children("/leaders/b"); len(nodes) != 0 {
			t.Errorf("got nodes %v", nodes)
		}
	})
}

// Each restart of the server costs a connection, no place and no term.
func TestCandidatesKeepTheirPlacesOverRestarts(t *testing.T) {
	inBubble(t, func(t *testing.T, server *zktest.Server) {
		all, _ := latches(t, server, 3)
		term := awaitTerm(t, all[0])
		nodes := server.Children(path)
		for range 4 {
			server.Restart()
			time.Sleep(2 * time.Second)
			if term.Err() != nil || leadsOf(all) != 1 {
				t.Fatalf("the term ended with %v, %d lead", term.Err(), leadsOf(all))
			}
		}
		if got := server.Children(path); len(got) != len(nodes) || got[0] != nodes[0] || got[2] != nodes[2] {
			t.Errorf("got nodes %v, want %v", got, nodes)
		}
		wantErr(t, all[0].Close(), nil)
		awaitTerm(t, all[1])
		server.Restart()
		wantErr(t, all[1].Close(), nil)
		awaitTerm(t, all[2])
	})
}

// The server is replaced by one without data. The old leader hears of it before another one leads.
func TestServerThatIsReplacedByAnEmptyOneHasOneLeader(t *testing.T) {
	inBubble(t, func(t *testing.T, server *zktest.Server) {
		successor := zktest.New(t)
		var present atomic.Pointer[zktest.Server]
		present.Store(server)
		dial := func(ctx context.Context, network, address string) (net.Conn, error) {
			return present.Load().DialContext(ctx, network, address)
		}
		var all []*leader.LeaderLatch
		for range 2 {
			client, err := framework.NewClient("zktest:2181", framework.WithDialer(dial), framework.WithSessionTimeout(sessionTimeout))
			must(t, err)
			t.Cleanup(func() { _ = client.Close() })
			all = append(all, start(t, leader.NewLeaderLatch(client, path)))
		}
		term := awaitTerm(t, all[0])
		present.Store(successor)
		server.CutAll()
		<-term.Done()
		wantErr(t, term.Err(), locks.ErrLeaseLost)
		time.Sleep(2 * time.Minute)
		synctest.Wait()
		if got := leadsOf(all); got != 1 || len(successor.Children(path)) != 2 {
			t.Errorf("%d lead, nodes %v", got, successor.Children(path))
		}
		for _, l := range all {
			_ = l.Close()
		}
	})
}
