package leader_test

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/framework/zktest"
	"github.com/gocurator/curator/recipes/journaltest"
	"github.com/gocurator/curator/recipes/leader"
	"github.com/gocurator/curator/recipes/locks"
	"github.com/gocurator/curator/retry"
)

const (
	sessionTimeout = 10 * time.Second
	path           = "/leaders/a"
	retryPause     = 100 * time.Millisecond
	retries        = 3
)

// inBubble runs a test with a server of its own. What clients leave behind there, watches or connections, is an error.
func inBubble(t *testing.T, test func(t *testing.T, server *zktest.Server)) {
	t.Helper()
	events, peers = &journaltest.Journal{}, 0
	defer func() { events = nil }()
	zktest.Bubble(t, func(t *testing.T) {
		server := zktest.New(t)
		server.ObserveTransactions(events.Transaction)
		t.Cleanup(func() {
			for _, problem := range journaltest.Check(events.Events(), journaltest.Servers{}) {
				t.Errorf("the journal says: %v", problem)
			}
		})
		test(t, server)
	})
}

var (
	events *journaltest.Journal // the present bubble's journal, checked at its end; nil outside inBubble
	peers  int                  // how many peers the present bubble has
)

// expire ends a session as an administrator does.
func expire(server *zktest.Server, session int64) {
	events.Kill(session)
	server.ExpireSession(session)
}

// A peer is a client with a network path of its own.
type peer struct {
	*framework.Client
	link *zktest.Link
}

func newPeer(t *testing.T, server *zktest.Server, opts ...framework.Option) *peer {
	t.Helper()
	return newPeerAt(t, server, "", opts...)
}

func newPeerAt(t *testing.T, server *zktest.Server, chroot string, opts ...framework.Option) *peer {
	t.Helper()
	if events == nil {
		t.Fatal("the clients of newPeer need the journal of inBubble")
	}
	p := &peer{link: server.NewLink()}
	peers++
	name := fmt.Sprintf("client %d", peers)
	client, err := framework.NewClient("zktest:2181"+chroot, append([]framework.Option{
		framework.WithDialer(p.link.DialContext), framework.WithSessionTimeout(sessionTimeout),
		framework.WithConnectionTimeout(2 * time.Second), framework.WithRetryPolicy(retry.NTimes(retries, retryPause)),
		framework.WithTrace(framework.Trace{OrphanFound: events.OrphanFound(name)}),
	}, opts...)...)
	must(t, err)
	events.Attach(client, name)
	t.Cleanup(func() {
		p.link.Heal()
		_ = client.Close()
	})
	must(t, client.BlockUntilConnected(t.Context()))
	p.Client = client
	return p
}

func (p *peer) selector(opts ...leader.Option) *leader.LeaderSelector {
	return leader.NewLeaderSelector(p.Client, path, opts...)
}

func (p *peer) sessionID(t *testing.T) int64 {
	t.Helper()
	s, err := p.Session(t.Context())
	must(t, err)
	return s.ID()
}

// lead returns a term, which is released at the end of the test unless it was before.
func lead(t *testing.T, s *leader.LeaderSelector) *locks.Lease {
	t.Helper()
	term, err := s.Campaign(t.Context())
	must(t, err)
	t.Cleanup(func() { _ = term.Release() })
	return term
}

// begin calls f on another goroutine, whose result must come within an hour of the bubble's time.
func begin(t *testing.T, f func() error) (result func() error) {
	t.Helper()
	results := make(chan error, 1)
	go func() { results <- f() }()
	synctest.Wait()
	return func() error {
		t.Helper()
		select {
		case err := <-results:
			return err
		case <-time.After(time.Hour):
			t.Fatal("got no return within an hour, want one")
			return nil
		}
	}
}

// untilDone leads until its context ends.
func untilDone(ctx context.Context) error {
	<-ctx.Done()
	return context.Cause(ctx)
}

// must ends the test if err is not nil.
func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func wantErr(t *testing.T, got error, want ...error) {
	t.Helper()
	if len(want) == 0 && got != nil {
		t.Errorf("got error %v, want none", got)
	}
	for _, w := range want {
		if !errors.Is(got, w) {
			t.Errorf("got error %v, want %v", got, w)
		}
	}
}

func wantNodes(t *testing.T, server *zktest.Server, want int) {
	t.Helper()
	if got := server.Children(path); len(got) != want {
		t.Errorf("got nodes %v, want %d", got, want)
	}
}
