package leader_test

import (
	"context"
	"testing"
	"time"

	"github.com/gocurator/curator/framework/session"
	"github.com/gocurator/curator/framework/zktest"
	"github.com/gocurator/curator/recipes/leader"
)

func TestALostTermIsExplained(t *testing.T) {
	for name, lead := range map[string]func(t *testing.T, p *peer, cut func()) error{
		"of RunOnce": func(t *testing.T, p *peer, cut func()) error {
			t.Helper()
			return p.selector().RunOnce(t.Context(), func(ctx context.Context) error {
				cut()
				<-ctx.Done()
				return context.Cause(ctx)
			})
		},
		"of a latch": func(t *testing.T, p *peer, cut func()) error {
			t.Helper()
			latch := leader.NewLeaderLatch(p.Client, path)
			wantErr(t, latch.Start(t.Context()))
			t.Cleanup(func() { _ = latch.Close() })
			term, err := latch.Await(t.Context())
			must(t, err)
			cut()
			<-term.Done()
			return term.Err()
		},
	} {
		t.Run(name, func(t *testing.T) {
			inBubble(t, func(t *testing.T, server *zktest.Server) {
				p := newPeer(t, server)
				err := lead(t, p, func() {
					time.Sleep(sessionTimeout)
					p.link.Cut()
				})
				if got := session.Explain(err); got.Kind != session.LossNotReached {
					t.Errorf("got %v: %s, want no server reached", got.Kind, got)
				}
				p.link.Heal()
			})
		})
	}
}
