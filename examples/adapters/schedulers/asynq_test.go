package schedulers_test

import (
	"context"
	"errors"
	"net"
	"slices"
	"testing"
	"time"

	"github.com/alicebob/miniredis/v2"
	"github.com/hibiken/asynq"
	"github.com/redis/go-redis/v9"

	"github.com/gocurator/curator/framework/zktest"
	"github.com/gocurator/curator/recipes/leader"
	"github.com/gocurator/curator/retry"
)

// enqueueInLeader stands on the page.
func enqueueInLeader(ctx context.Context, election *leader.LeaderSelector, redis asynq.RedisConnOpt,
	opts *asynq.SchedulerOpts,
) error {
	return election.Run(ctx, func(ctx context.Context) error {
		task := asynq.NewTask("report", nil)
		scheduler := asynq.NewScheduler(redis, opts) // for each term: one that was shut down cannot start again
		if _, err := scheduler.Register("* * * * *", task, asynq.Unique(30*time.Second)); err != nil {
			return retry.Permanent(err)
		}
		if err := scheduler.Start(); err != nil {
			return err
		}
		<-ctx.Done() // before another process can lead
		scheduler.Shutdown()
		return nil
	})
}

// A server in memory, whose connections are pipes.
type memory struct{ *miniredis.Miniredis }

func (m memory) MakeRedisClient() any {
	return redis.NewClient(&redis.Options{
		Dialer: func(context.Context, string, string) (net.Conn, error) { return m.Dial() },
	})
}

func newRedis(t *testing.T) memory {
	t.Helper()
	m := memory{miniredis.NewMiniRedis()}
	m.ClockTTL(true) // keys end by the bubble's clock
	t.Cleanup(m.Close)
	return m
}

// A quiet replica logs nothing.
type quiet struct{}

func (quiet) Debug(...any) {}
func (quiet) Info(...any)  {}
func (quiet) Warn(...any)  {}
func (quiet) Error(...any) {}
func (quiet) Fatal(...any) {}

// options are those of a replica whose ticks are noted. What it enqueues is worked off at once.
func options(t *testing.T, who string, jobs *ticks, redis memory) *asynq.SchedulerOpts {
	inspector := asynq.NewInspector(redis)
	t.Cleanup(func() { _ = inspector.Close() })
	return &asynq.SchedulerOpts{Logger: quiet{}, PostEnqueueFunc: func(info *asynq.TaskInfo, err error) {
		if err == nil {
			jobs.add(who)
			err = inspector.DeleteTask(info.Queue, info.ID)
		}
		if err != nil && !errors.Is(err, asynq.ErrDuplicateTask) {
			t.Errorf("%s: got %v, want a task", who, err)
		}
	}}
}

func TestTickOfAsynqIsEnqueuedByTheLeaderAndByTheNextOneAfterItsEnd(t *testing.T) {
	zktest.Bubble(t, func(t *testing.T) {
		zk, store, jobs := zktest.New(t), newRedis(t), newTicks(time.Minute)
		link, others := zk.NewLink(), zk.NewLink()
		ctx, cancel := context.WithCancel(t.Context())
		ended := make(chan error)
		for i, who := range []string{"a", "b", "c"} {
			dial := others.DialContext
			if i == 0 {
				dial = link.DialContext
			}
			client := connect(t, dial)
			go func() {
				ended <- enqueueInLeader(ctx, leader.NewLeaderSelector(client, "/asynq/leader"), store, options(t, who, jobs, store))
			}()
			time.Sleep(time.Second) // the first one leads
		}
		time.Sleep(3 * time.Minute)
		if got := jobs.counts(); !slices.Equal(got, once(3)) || jobs.last() != "a" {
			t.Errorf("got %v tasks a tick, the last by %q, want one each, by a", got, jobs.last())
		}
		link.Cut() // at a full minute and three seconds
		time.Sleep(3 * time.Minute)
		if got := jobs.counts(); !slices.Equal(got, once(6)) || jobs.last() == "a" {
			t.Errorf("after the leader was cut off: got %v tasks a tick, the last by %q, want one each, not by a", got, jobs.last())
		}
		link.Heal()
		time.Sleep(3 * time.Minute)
		others.Cut()
		time.Sleep(3 * time.Minute)
		if got := jobs.counts(); !slices.Equal(got, once(12)) || jobs.last() != "a" {
			t.Errorf("after the others were cut off: got %v tasks a tick, the last by %q, want one each, by a", got, jobs.last())
		}
		cancel()
		for range 3 {
			if err := <-ended; !errors.Is(err, context.Canceled) {
				t.Errorf("got %v, want Canceled", err)
			}
		}
	})
}

// The old leader's request may reach Redis after the new leader's.
func TestTickOfAsynqThatTwoLeadersEnqueueIsOneTaskInRedis(t *testing.T) {
	zktest.Bubble(t, func(t *testing.T) {
		zk, store := zktest.New(t), newRedis(t)
		ctx, cancel := context.WithCancel(t.Context())
		ended := make(chan error)
		for _, path := range []string{"/asynq/leader", "/asynq/another"} {
			election := leader.NewLeaderSelector(connect(t, zk.DialContext), path)
			go func() { ended <- enqueueInLeader(ctx, election, store, &asynq.SchedulerOpts{Logger: quiet{}}) }()
		}
		inspector := asynq.NewInspector(store)
		defer inspector.Close()
		for tick := 1; tick <= 3; tick++ { // the task of the tick before is still there
			time.Sleep(time.Minute + time.Second)
			if tasks, err := inspector.ListPendingTasks("default"); len(tasks) != tick || err != nil {
				t.Errorf("after %d ticks: got %d tasks, %v, want one for each", tick, len(tasks), err)
			}
		}
		cancel()
		<-ended
		<-ended
	})
}

// What the page is about: a scheduler in each replica.
func TestTickOfAsynqIsEnqueuedByEachReplicaWithoutALeader(t *testing.T) {
	zktest.Bubble(t, func(t *testing.T) {
		store, jobs := newRedis(t), newTicks(time.Minute)
		for _, who := range []string{"a", "b", "c"} {
			scheduler := asynq.NewScheduler(store, options(t, who, jobs, store))
			if _, err := scheduler.Register("* * * * *", asynq.NewTask("report", nil)); err != nil {
				t.Fatal(err)
			}
			if err := scheduler.Start(); err != nil {
				t.Fatal(err)
			}
			defer scheduler.Shutdown()
		}
		time.Sleep(2*time.Minute + time.Second)
		if got := jobs.counts(); !slices.Equal(got, []int{3, 3}) {
			t.Errorf("got %v tasks a tick, want 3 each", got)
		}
	})
}
