package leader_test

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/framework/zktest"
	"github.com/gocurator/curator/recipes/locks"
)

// A thread of the server stands still with A's create, A's connection breaks, and A leads with a node that it makes on
// the next one. The old create is executed when A has resigned: its node belongs to no contender, but B stands behind
// it.
func TestACandidacyThatIsExecutedLateLetsTheNextLead(t *testing.T) {
	for name, stand := range map[string]func(t *testing.T, p *peer) (term *locks.Lease, resign func()){
		"LeaderSelector": func(t *testing.T, p *peer) (*locks.Lease, func()) {
			term := lead(t, p.selector())
			return term, func() { _ = term.Release() }
		},
		"LeaderLatch": func(t *testing.T, p *peer) (*locks.Lease, func()) {
			l := start(t, p.latch())
			return awaitTerm(t, l), func() { _ = l.Close() }
		},
	} {
		t.Run(name, func(t *testing.T) {
			inBubble(t, func(t *testing.T, server *zktest.Server) {
				a, b := newPeer(t, server), newPeer(t, server)
				if _, _, err := a.Create(t.Context(), path, nil, framework.CreatingParentsIfNeeded()); err != nil {
					t.Fatal(err)
				}
				goOn := server.Stall(zktest.Match{Op: zktest.OpCreate2})
				id := a.sessionID(t)
				resigned := make(chan struct{})
				go func() {
					defer close(resigned)
					_, resign := stand(t, a)
					resign()
				}()
				synctest.Wait()
				server.CutSession(id)
				<-resigned
				goOn()
				synctest.Wait()
				if n := server.Children(path); len(n) != 1 {
					t.Fatalf("got nodes %q, the test needs the one that is created late", n)
				}
				began := time.Now()
				_, resign := stand(t, b)
				if waited := time.Since(began); waited > 4*sessionTimeout {
					t.Errorf("B waited for %v, want at most four session timeouts", waited)
				}
				resign()
				wantNodes(t, server, 0)
			})
		})
	}
}
