package gocronlock_test

import (
	"context"
	"net"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/go-co-op/gocron/v2"

	"github.com/gocurator/curator/framework"
)

const timeout = 10 * time.Second // the session timeout

func connect(t *testing.T, dial func(ctx context.Context, network, address string) (net.Conn, error)) *framework.Client {
	t.Helper()
	client, err := framework.NewClient("any:2181", framework.WithDialer(dial), framework.WithSessionTimeout(timeout))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = client.Close() })
	return client
}

// schedule starts a scheduler with one job, and returns what ends it before the test does. gocron's Shutdown is called
// once: just after it has returned, the scheduler may still count as started, and a second call would time out.
func schedule(t *testing.T, with gocron.SchedulerOption, every time.Duration, work any, opts ...gocron.JobOption) (shutdown func() error) {
	t.Helper()
	scheduler, err := gocron.NewScheduler(with)
	if err != nil {
		t.Fatal(err)
	}
	shutdown = sync.OnceValue(scheduler.Shutdown)
	t.Cleanup(func() {
		if err := shutdown(); err != nil {
			t.Errorf("shutdown: got %v, want nil", err)
		}
	})
	if _, err := scheduler.NewJob(gocron.DurationJob(every), gocron.NewTask(work), opts...); err != nil {
		t.Fatal(err)
	}
	scheduler.Start()
	return shutdown
}

// A room counts who is in it, and fails the test if two are.
type room struct {
	t      *testing.T
	mu     sync.Mutex
	inside string
	visits []string
}

// stay is in the room for so long, or until ctx ends.
func (r *room) stay(ctx context.Context, who string, d time.Duration) error {
	r.mu.Lock()
	if r.inside != "" {
		r.t.Errorf("%s came while %s was in", who, r.inside)
	}
	r.inside = who
	r.visits = append(r.visits, who)
	r.mu.Unlock()
	defer func() {
		r.mu.Lock()
		r.inside = ""
		r.mu.Unlock()
	}()
	select {
	case <-ctx.Done():
		return context.Cause(ctx)
	case <-time.After(d):
		return nil
	}
}

func (r *room) all() []string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.Clone(r.visits)
}

func (r *room) count(who string) (n int) {
	for _, v := range r.all() {
		if v == who {
			n++
		}
	}
	return n
}
