package gocronlock_test

import (
	"context"
	"errors"
	"net"
	"testing"
	"time"

	"github.com/go-co-op/gocron/v2"

	gocronlock "github.com/gocurator/curator/examples/adapters/gocron"
	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/framework/zktest"
	"github.com/gocurator/curator/recipes/leader"
	"github.com/gocurator/curator/recipes/locks"
)

// stand has an elector stand for election until the returned function ends it, or the test.
func stand(t *testing.T, client *framework.Client, id string) (*gocronlock.Elector, func()) {
	t.Helper()
	elector := gocronlock.NewElector(client, "/leader", leader.WithID(id))
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		if err := elector.Run(ctx); !errors.Is(err, context.Canceled) {
			t.Errorf("%s: Run returned %v, want context.Canceled", id, err)
		}
	}()
	resign := func() { cancel(); <-ended }
	t.Cleanup(resign)
	time.Sleep(time.Second) // in the order of the calls
	return elector, resign
}

func TestJobsRunAtTheLeaderAloneAndAtTheNextOneAfterALoss(t *testing.T) {
	zktest.Bubble(t, func(t *testing.T) {
		server := zktest.New(t)
		jobs := &room{t: t}
		link := server.NewLink()
		failures := make(chan error, 100)
		for _, p := range []struct {
			who  string
			dial func(ctx context.Context, network, address string) (net.Conn, error)
		}{{"first", link.DialContext}, {"second", server.DialContext}} {
			elector, _ := stand(t, connect(t, p.dial), p.who)
			schedule(t, gocron.WithDistributedElector(elector), 20*time.Second,
				elector.Task(func(ctx context.Context) error { return jobs.stay(ctx, p.who, 15*time.Second) }),
				onFailure(func(err error) { failures <- err }))
		}
		time.Sleep(3*time.Minute + time.Second) // in the middle of a run
		if first, second := jobs.count("first"), jobs.count("second"); first != 9 || second != 0 {
			t.Errorf("the leader ran %d jobs and the other one %d, want 9 and 0", first, second)
		}
		link.Mute()
		if err := <-failures; !errors.Is(err, locks.ErrLeaseLost) {
			t.Errorf("the run at the loss ended with %v, want ErrLeaseLost", err)
		}
		time.Sleep(2 * time.Minute)
		if first, second := jobs.count("first"), jobs.count("second"); first != 9 || second < 4 {
			t.Errorf("the lost leader ran %d jobs and the next one %d, want 9 as before, and at least 4", first, second)
		}
	})
}

func TestLeaderThatResignsOrIsAskedToLeaveEndsItsTasksFirst(t *testing.T) {
	for _, how := range []string{"resigns", "is asked to leave"} {
		t.Run(how, func(t *testing.T) {
			zktest.Bubble(t, func(t *testing.T) {
				server := zktest.New(t)
				jobs := &room{t: t}
				client := connect(t, server.DialContext)
				elector, resign := stand(t, client, "first")
				other, _ := stand(t, connect(t, server.DialContext), "second")
				for who, e := range map[string]*gocronlock.Elector{"first": elector, "second": other} {
					schedule(t, gocron.WithDistributedElector(e), time.Minute,
						e.Task(func(ctx context.Context) error { return jobs.stay(ctx, who, 50*time.Second) }))
				}
				time.Sleep(70 * time.Second) // the task ends at 110 s
				start := time.Now()
				if how == "resigns" {
					resign()
					if got, want := time.Since(start), 40*time.Second; got < want-time.Second {
						t.Errorf("it resigned after %v, want some %v, the rest of the task", got, want)
					}
				} else {
					nodes := server.Children("/leader")
					if err := locks.AttemptRevoke(t.Context(), client, "/leader/"+firstOf(nodes)); err != nil {
						t.Fatal(err)
					}
				}
				time.Sleep(2 * time.Minute)
				if first, second := jobs.count("first"), jobs.count("second"); first != 1 || second < 1 {
					t.Errorf("the first leader ran %d jobs and the next one %d, want 1 and at least 1", first, second)
				}
			})
		})
	}
}

// firstOf is the node with the least number, which is the end of its name.
func firstOf(nodes []string) string {
	least := nodes[0]
	for _, n := range nodes[1:] {
		if n[len(n)-10:] < least[len(least)-10:] {
			least = n
		}
	}
	return least
}

func TestProcessThatNeverLedIsNoLeader(t *testing.T) {
	zktest.Bubble(t, func(t *testing.T) {
		elector := gocronlock.NewElector(connect(t, zktest.New(t).DialContext), "/leader")
		if err := elector.IsLeader(t.Context()); !errors.Is(err, gocronlock.ErrNotLeader) {
			t.Errorf("IsLeader: got %v, want ErrNotLeader", err)
		}
		work := elector.Task(func(context.Context) error { t.Error("the task runs"); return nil })
		if err := work(t.Context()); !errors.Is(err, gocronlock.ErrNotLeader) {
			t.Errorf("Task: got %v, want ErrNotLeader", err)
		}
	})
}
