package leader_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"testing"
	"testing/synctest"

	"github.com/gocurator/curator/framework/zktest"
	"github.com/gocurator/curator/recipes/leader"
	"github.com/gocurator/curator/recipes/locks"
)

func TestTraceHearsOfCampaignsAndOfTheTermsTheyWin(t *testing.T) {
	for name, campaign := range map[string]func(t *testing.T, p *peer, trace leader.Option) *locks.Lease{
		"selector": func(t *testing.T, p *peer, trace leader.Option) *locks.Lease { return lead(t, p.selector(trace)) },
		"latch": func(t *testing.T, p *peer, trace leader.Option) *locks.Lease {
			return awaitTerm(t, start(t, p.latch(trace)))
		},
	} {
		t.Run(name, func(t *testing.T) {
			inBubble(t, func(t *testing.T, server *zktest.Server) {
				var mu sync.Mutex
				var heard []string
				hear := func(format string, args ...any) {
					mu.Lock()
					defer mu.Unlock()
					heard = append(heard, fmt.Sprintf(format, args...))
				}
				p := newPeer(t, server)
				term := campaign(t, p, leader.WithTrace(locks.Trace{
					AcquireStart: func(ctx context.Context, s locks.AcquireStart) context.Context { hear("start %s", s.Path); return ctx },
					AcquireEnd:   func(_ context.Context, e locks.AcquireEnd) { hear("end %d, %v", e.Token, e.Err) },
					Lost:         func(l locks.Lost) { hear("lost %t", errors.Is(l.Err, locks.ErrLeaseLost)) },
				}))
				expire(server, p.sessionID(t))
				<-term.Done()
				synctest.Wait()
				mu.Lock()
				defer mu.Unlock()
				want := []string{"start " + path, fmt.Sprintf("end %d, <nil>", term.FencingToken())}
				if len(heard) < len(want) || !slices.Equal(heard[:len(want)], want) {
					t.Errorf("got %q, want %q at first", heard, want)
				}
				if want := "lost true"; !slices.Contains(heard, want) { // before or after the latch stands again
					t.Errorf("got %q, want %q among them", heard, want)
				}
			})
		})
	}
}
