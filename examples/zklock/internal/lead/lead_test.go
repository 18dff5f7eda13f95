package lead_test

import (
	"context"
	"errors"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/gocurator/curator/examples/zklock/internal/lead"
	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/framework/zktest"
	"github.com/gocurator/curator/recipes/leader"
	"github.com/gocurator/curator/recipes/locks"
	"github.com/gocurator/curator/retry"
)

const (
	path           = "/leaders/a"
	sessionTimeout = 16 * time.Second
	promise        = sessionTimeout / 8 // the default
)

// A participant is an elector with a client and a network path of its own.
type participant struct {
	*lead.Elector
	t      *testing.T
	client *framework.Client
	link   *zktest.Link
	stop   context.CancelCauseFunc
	ended  chan error

	mu     sync.Mutex
	events []lead.Event
}

func stand(t *testing.T, server *zktest.Server, name string, standAgain bool) *participant {
	t.Helper()
	return standReporting(t, server, name, standAgain, nil)
}

// standReporting is stand with a Report; nil keeps the events.
func standReporting(t *testing.T, server *zktest.Server, name string, standAgain bool, report func(lead.Event)) *participant {
	t.Helper()
	p := &participant{t: t, link: server.NewLink(), ended: make(chan error, 1)}
	client, err := framework.NewClient("zk", framework.WithDialer(p.link.DialContext), framework.WithSessionTimeout(sessionTimeout),
		framework.WithRetryPolicy(retry.UntilElapsed(15*time.Second, 250*time.Millisecond))) // as that of zklock
	if err != nil {
		t.Fatal(err)
	}
	p.client = client
	if report == nil {
		report = p.hear
	}
	p.Elector = lead.New(lead.Options{Client: client, Path: path, Name: name, Promise: -1, StandAgain: standAgain, Report: report})
	ctx, stop := context.WithCancelCause(t.Context())
	p.stop = stop
	go func() { p.ended <- p.Run(ctx) }()
	t.Cleanup(func() {
		stop(nil)
		_ = client.Close()
	})
	synctest.Wait()
	return p
}

func (p *participant) hear(event lead.Event) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.events = append(p.events, event)
}

// last returns the newest event of a kind.
func (p *participant) last(kind string) (found lead.Event) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, event := range p.events {
		if event.Event == kind {
			found = event
		}
	}
	return found
}

// until asks every ten milliseconds until the answer is the wanted one, and returns for how long it was not.
func (p *participant) until(leads bool) time.Duration {
	p.t.Helper()
	began := time.Now()
	for p.Answer().Leading != leads {
		if time.Since(began) > time.Minute {
			p.t.Fatalf("%s: got no answer %t within a minute", p.Answer().Me, leads)
		}
		time.Sleep(10 * time.Millisecond)
	}
	return time.Since(began)
}

// within waits for the end of Run.
func (p *participant) within(limit time.Duration) error {
	p.t.Helper()
	select {
	case err := <-p.ended:
		return err
	case <-time.After(limit):
		p.t.Fatalf("%s: got no end of Run within %v", p.Answer().Me, limit)
		return nil
	}
}

// revoke asks the leader to leave, and returns it.
func (p *participant) revoke() leader.Participant {
	p.t.Helper()
	present, err := leader.NewLeaderSelector(p.client, path).Leader(p.t.Context())
	if err != nil {
		p.t.Fatal(err)
	}
	if err := locks.AttemptRevoke(p.t.Context(), p.client, present.Path); err != nil {
		p.t.Fatal(err)
	}
	synctest.Wait()
	return present
}

func TestYesRunsOutBeforeTheLeaseDoes(t *testing.T) {
	for name, fail := range map[string]func(server *zktest.Server, link *zktest.Link){
		"a frozen server":           func(server *zktest.Server, _ *zktest.Link) { server.Freeze() },
		"a cable that swallows all": func(_ *zktest.Server, link *zktest.Link) { link.Mute() },
		"a cut cable":               func(_ *zktest.Server, link *zktest.Link) { link.Cut() },
	} {
		t.Run(name, func(t *testing.T) { yesRunsOut(t, fail) })
	}
}

func yesRunsOut(t *testing.T, fail func(server *zktest.Server, link *zktest.Link)) {
	zktest.Bubble(t, func(t *testing.T) {
		server := zktest.New(t)
		defer server.Unfreeze()
		p := stand(t, server, "a", false)
		p.until(true)
		fail(server, p.link)
		if d := p.until(false); d < sessionTimeout/4 {
			t.Errorf("got a no %v after the last answer of the server, want none within %v", d, sessionTimeout/4)
		}
		no := time.Now()
		if err := p.within(sessionTimeout); !errors.As(err, new(*lead.LostError)) {
			t.Errorf("got %v, want a LostError", err)
		}
		lost := p.last(lead.Lost)
		if d := lost.At.Sub(no); d < promise-10*time.Millisecond || d > promise+10*time.Millisecond {
			t.Errorf("got the loss %v after the first no, want %v", d, promise)
		}
		if a := p.Answer(); a.Leading || a.Name != "" || a.ValidFor != 0 || a.Connected {
			t.Errorf("after the loss got %+v, want no leader", a)
		}
	})
}

func TestShortOutageChangesNoAnswer(t *testing.T) {
	zktest.Bubble(t, func(t *testing.T) {
		p := stand(t, zktest.New(t), "a", false)
		p.until(true)
		for range 20 {
			p.link.Reset()
			for range 30 {
				time.Sleep(100 * time.Millisecond)
				if !p.Answer().Leading {
					t.Fatal("got a no, want that a broken connection changes nothing")
				}
			}
		}
	})
}

func TestLossIsFollowedByAnotherTermIfItStandsAgain(t *testing.T) {
	zktest.Bubble(t, func(t *testing.T) {
		server := zktest.New(t)
		p := stand(t, server, "a", true)
		p.until(true)
		first := p.Answer()
		time.Sleep(time.Minute)
		if err := server.Delete(path + "/" + server.Children(path)[0]); err != nil {
			t.Fatal(err)
		}
		synctest.Wait()
		p.until(true)
		if got := p.Answer(); got.Token <= first.Token || !got.Since.After(*first.Since) {
			t.Errorf("got %+v after %+v, want a new term", got, first)
		}
		if p.last(lead.Lost).Why == "" {
			t.Error("got no event of the loss with its cause")
		}
	})
}

// A participant of the library, as Java's LeaderSelector, stands in the same queue.
func TestElectorStandsInOneQueueWithSelectors(t *testing.T) {
	zktest.Bubble(t, func(t *testing.T) {
		server := zktest.New(t)
		a := stand(t, server, "a", false)
		a.until(true)
		other, err := framework.NewClient("zk", framework.WithDialer(server.DialContext))
		if err != nil {
			t.Fatal(err)
		}
		defer other.Close()
		selector := leader.NewLeaderSelector(other, path, leader.WithID("library"))
		leading := make(chan struct{})
		ctx, end := context.WithCancel(t.Context())
		var terms sync.WaitGroup
		terms.Go(func() {
			_ = selector.Run(ctx, func(ctx context.Context) error {
				close(leading)
				<-ctx.Done()
				return nil
			})
		})
		synctest.Wait()
		all, err := selector.Participants(t.Context())
		if err != nil || len(all) != 2 || all[0].ID != "a" || !all[0].IsLeader || all[1].ID != "library" {
			t.Errorf("got %+v, %v, want a and library", all, err)
		}
		b := stand(t, server, "b", false)
		a.stop(nil)
		<-leading
		synctest.Wait()
		if got := b.Answer(); got.Name != "library" || got.Leading {
			t.Errorf("got %+v, want that library leads", got)
		}
		end()
		terms.Wait()
		b.until(true)
	})
}

// A sidecar that was killed and starts again has the name of its node, which goes with its session only.
func TestNodeOfTheSameNameIsNotTakenForOnesOwn(t *testing.T) {
	zktest.Bubble(t, func(t *testing.T) {
		server := zktest.New(t)
		before := stand(t, server, "a", true)
		before.until(true)
		before.link.Mute()
		after := stand(t, server, "a", false)
		for range int(sessionTimeout / time.Second) {
			got := after.Answer()
			if got.Leading && before.Answer().Leading {
				t.Fatal("both lead")
			}
			if !got.Leading && got.Name != "" {
				t.Fatalf("got %+v, want no name: it is the own one, and it does not lead", got)
			}
			time.Sleep(time.Second)
		}
		after.until(true)
	})
}
