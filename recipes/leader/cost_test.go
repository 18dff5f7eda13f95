package leader_test

import (
	"context"
	"testing"
	"testing/synctest"

	"github.com/gocurator/curator/recipes/internal/costtest"
	"github.com/gocurator/curator/recipes/leader"
	"github.com/gocurator/curator/recipes/locks"
)

func selectorOf(m *costtest.Meter) *leader.LeaderSelector {
	return leader.NewLeaderSelector(m.Client, path)
}

func campaign(m *costtest.Meter, s *leader.LeaderSelector) *locks.Lease {
	m.T.Helper()
	term, err := s.Campaign(m.T.Context())
	m.Do(err)
	m.T.Cleanup(func() { _ = term.Release() })
	return term
}

// rival is a leader of another client.
func rival(m *costtest.Meter) *locks.Lease {
	m.T.Helper()
	return campaign(m, leader.NewLeaderSelector(m.Rival(), path))
}

// waits campaigns until another leader's term has ended.
func waits(m *costtest.Meter, s *leader.LeaderSelector) (elected <-chan struct{}) {
	done, waiting := make(chan struct{}), m.T.Context()
	m.Go(func() {
		if term, err := s.Campaign(waiting); err == nil {
			close(done)
			<-waiting.Done()
			_ = term.Release()
		}
	})
	m.Settle()
	return done
}

// started starts a latch, and closes it at the end of the test.
func started(m *costtest.Meter) *leader.LeaderLatch {
	m.T.Helper()
	l := leader.NewLeaderLatch(m.Client, path)
	m.Do(l.Start(m.T.Context()))
	m.T.Cleanup(func() { _ = l.Close() })
	return l
}

func elected(m *costtest.Meter, l *leader.LeaderLatch) {
	m.T.Helper()
	_, err := l.Await(m.T.Context())
	m.Do(err)
}

func TestCosts(t *testing.T) {
	costtest.Count(t, "leader", costtest.Costs{
		"leader.LeaderSelector: campaign, without a leader": func(m *costtest.Meter) func() {
			m.Make("/leaders", path)
			return func() { campaign(m, selectorOf(m)) }
		},
		"leader.LeaderSelector: be elected after another client's term": func(m *costtest.Meter) func() {
			term := rival(m)
			next := waits(m, selectorOf(m))
			return func() {
				m.Do(term.Release())
				<-next
			}
		},
		"leader.LeaderSelector: a term of no time": func(m *costtest.Meter) func() {
			m.Make("/leaders", path)
			return func() {
				m.Do(selectorOf(m).RunOnce(m.T.Context(), func(context.Context) error { return nil }))
			}
		},
		"leader.LeaderSelector: who leads": func(m *costtest.Meter) func() {
			rival(m)
			return func() {
				_, err := selectorOf(m).Leader(m.T.Context())
				m.Do(err)
			}
		},
		"leader.LeaderSelector: observe the leader, and hear of the next": func(m *costtest.Meter) func() {
			term, client := rival(m), m.Rival()
			heard := make(chan string, 10)
			next := leader.NewLeaderSelector(client, path, leader.WithID("next"))
			waits(m, next)
			return func() {
				m.Go(func() {
					for p := range selectorOf(m).Observe(m.T.Context()) {
						heard <- p.ID
					}
				})
				<-heard
				m.Settle()
				m.Do(term.Release())
				for id := range heard {
					if id == "next" {
						break
					}
				}
			}
		},
		"leader.LeaderLatch: start and lead, without a leader": func(m *costtest.Meter) func() {
			m.Make("/leaders", path)
			return func() { elected(m, started(m)) }
		},
		"leader.LeaderLatch: be elected after another client's term": func(m *costtest.Meter) func() {
			rival := leader.NewLeaderLatch(m.Rival(), path)
			m.Do(rival.Start(m.T.Context()))
			m.T.Cleanup(func() { _ = rival.Close() })
			elected(m, rival)
			l := started(m)
			m.Settle()
			return func() {
				m.Do(rival.Close())
				elected(m, l)
			}
		},
		"leader.LeaderLatch: ask whether it leads": func(m *costtest.Meter) func() {
			l := started(m)
			elected(m, l)
			return func() { l.HasLeadership() }
		},
		"leader.LeaderLatch: close a leader's": func(m *costtest.Meter) func() {
			l := started(m)
			elected(m, l)
			synctest.Wait()
			return func() { m.Do(l.Close()) }
		},
	})
}
