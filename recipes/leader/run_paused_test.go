package leader_test

import (
	"context"
	"testing"
	"time"

	"github.com/gocurator/curator/framework/zktest"
	"github.com/gocurator/curator/recipes/leader"
	"github.com/gocurator/curator/recipes/locks"
)

// The time of the term is up, and no timer has fired yet, as after a suspension of the process: here the
// session's goroutine calls the end of another binding for a second.
func TestALeaderKnowsTheEndOfItsTermAtTheFirstLook(t *testing.T) {
	for name, stand := range map[string]func(s *leader.LeaderSelector, ctx context.Context, lead func(ctx context.Context) error) error{
		"RunOnce": func(s *leader.LeaderSelector, ctx context.Context, lead func(ctx context.Context) error) error {
			return s.RunOnce(ctx, lead)
		},
		"Run": func(s *leader.LeaderSelector, ctx context.Context, lead func(ctx context.Context) error) error {
			ctx, stop := context.WithCancel(ctx)
			return s.Run(ctx, func(ctx context.Context) error {
				defer stop()
				return lead(ctx)
			})
		},
		"Campaign": func(s *leader.LeaderSelector, ctx context.Context, lead func(ctx context.Context) error) error {
			term, err := s.Campaign(ctx)
			if err != nil {
				return err
			}
			_ = lead(term.Context(ctx))
			return term.Release()
		},
	} {
		t.Run(name, func(t *testing.T) {
			inBubble(t, func(t *testing.T, server *zktest.Server) {
				p := newPeer(t, server)
				s, err := p.Session(t.Context())
				must(t, err)
				if _, err := s.Bind(func(error) { time.Sleep(time.Second) }, nil); err != nil {
					t.Fatal(err)
				}
				err = stand(p.selector(), t.Context(), func(ctx context.Context) error {
					work, cancel := context.WithTimeout(ctx, time.Hour)
					defer cancel()
					p.link.Mute()
					time.Sleep(time.Until(s.ValidUntil()) + time.Millisecond)
					select {
					case <-ctx.Done():
						t.Error("before the first look: got Done closed, want it open")
					default:
					}
					wantErr(t, ctx.Err(), context.Canceled)
					wantErr(t, context.Cause(work), locks.ErrLeaseLost)
					return nil
				})
				wantErr(t, err, locks.ErrLeaseLost)
			})
		})
	}
}

// As above; Await does not return the term that is over.
func TestALatchKnowsTheEndOfItsTermAtTheFirstLook(t *testing.T) {
	for name, leads := range map[string]func(t *testing.T, l *leader.LeaderLatch) bool{
		"HasLeadership": func(_ *testing.T, l *leader.LeaderLatch) bool { return l.HasLeadership() },
		"Await": func(t *testing.T, l *leader.LeaderLatch) bool {
			ended, cancel := context.WithCancel(t.Context())
			cancel()
			_, err := l.Await(ended)
			return err == nil
		},
	} {
		t.Run(name, func(t *testing.T) {
			inBubble(t, func(t *testing.T, server *zktest.Server) {
				p := newPeer(t, server)
				s, err := p.Session(t.Context())
				must(t, err)
				if _, err := s.Bind(func(error) { time.Sleep(time.Second) }, nil); err != nil {
					t.Fatal(err)
				}
				l := start(t, p.latch())
				term := awaitTerm(t, l)
				p.link.Mute()
				time.Sleep(time.Until(s.ValidUntil()) + time.Millisecond)
				select {
				case <-term.Done():
					t.Error("before the first look: got Done closed, want it open")
				default:
				}
				if leads(t, l) {
					t.Error("got a latch that leads, want one whose time is up")
				}
			})
		})
	}
}
