package gocronlock_test

import (
	"context"
	"errors"
	"slices"
	"sync/atomic"
	"testing"
	"time"

	"github.com/go-co-op/gocron/v2"
	"github.com/google/uuid"

	gocronlock "github.com/gocurator/curator/examples/adapters/gocron"
	"github.com/gocurator/curator/framework/zktest"
	"github.com/gocurator/curator/recipes/locks"
)

// onFailure hears why runs were skipped or failed.
func onFailure(hear func(err error)) gocron.JobOption {
	listen := func(_ uuid.UUID, _ string, err error) { hear(err) }
	return gocron.WithEventListeners(gocron.AfterLockError(listen), gocron.AfterJobRunsWithError(listen))
}

func TestJobOfSchedulersWithDifferentClocksRunsOnceATick(t *testing.T) {
	zktest.Bubble(t, func(t *testing.T) {
		server := zktest.New(t)
		jobs := &room{t: t}
		var skipped atomic.Int32
		for _, who := range []string{"a", "b", "c"} {
			locker := gocronlock.NewLocker(connect(t, server.DialContext), "/jobs", 5*time.Second)
			schedule(t, gocron.WithDistributedLocker(locker), time.Minute,
				locker.Task("nightly", func(ctx context.Context) error { return jobs.stay(ctx, who, 100*time.Millisecond) }),
				gocron.WithName("nightly"), onFailure(func(err error) {
					if !errors.Is(err, locks.ErrNotAcquired) {
						t.Errorf("%s: got %v, want ErrNotAcquired", who, err)
					}
					skipped.Add(1)
				}))
			time.Sleep(time.Second) // its clock is so much later
		}
		time.Sleep(10*time.Minute + 30*time.Second)
		if visits, want := jobs.all(), 10; len(visits) != want {
			t.Errorf("the job ran %d times, by %v; want %d in ten minutes", len(visits), visits, want)
		}
		if got, want := skipped.Load(), int32(20); got != want {
			t.Errorf("%d runs were skipped, want %d", got, want)
		}
	})
}

// Without a bound, the wait for the servers would outlast the least time of the other process.
func TestRunThatHadToWaitForTheServersIsSkipped(t *testing.T) {
	zktest.Bubble(t, func(t *testing.T) {
		server := zktest.New(t)
		jobs := &room{t: t}
		link := server.NewLink()
		for who, dial := range map[string]*zktest.Link{"cut": link, "other": server.NewLink()} {
			locker := gocronlock.NewLocker(connect(t, dial.DialContext), "/jobs", 4*time.Second)
			schedule(t, gocron.WithDistributedLocker(locker), time.Minute,
				locker.Task("nightly", func(ctx context.Context) error { return jobs.stay(ctx, who, 100*time.Millisecond) }),
				gocron.WithName("nightly"))
		}
		time.Sleep(time.Minute - 100*time.Millisecond)
		link.Cut()
		time.Sleep(5 * time.Second)
		link.Heal()
		time.Sleep(30 * time.Second)
		if got := jobs.all(); !slices.Equal(got, []string{"other"}) {
			t.Errorf("the tick ran in %v, want one run, in the other process", got)
		}
	})
}

func TestTaskEndsBeforeAnotherProcessRunsTheJobWhenItsLockIsLost(t *testing.T) {
	zktest.Bubble(t, func(t *testing.T) {
		server := zktest.New(t)
		jobs := &room{t: t}
		link := server.NewLink()
		var lost atomic.Int32
		for who, dial := range map[string]*zktest.Link{"cut": link, "other": server.NewLink()} {
			locker := gocronlock.NewLocker(connect(t, dial.DialContext), "/jobs", 0)
			opts := []gocron.JobOption{gocron.WithName("main.(*app).nightly/1")}
			if who == "cut" {
				opts = append(opts, onFailure(func(err error) {
					if errors.Is(err, locks.ErrLeaseLost) { // others are ErrNotAcquired, of the runs in between
						lost.Add(1)
					}
				}), gocron.WithStartAt(gocron.WithStartImmediately()))
			}
			schedule(t, gocron.WithDistributedLocker(locker), time.Second,
				locker.Task("main.(*app).nightly/1", func(ctx context.Context) error {
					_ = jobs.stay(ctx, who, 5*time.Minute)
					return nil // the loss is reported nevertheless
				}), opts...)
		}
		time.Sleep(10 * time.Second)
		if got := jobs.count("other"); got != 0 {
			t.Fatalf("the other process ran the job %d times while it was running, want 0", got)
		}
		link.Mute()
		time.Sleep(3 * timeout)
		if got := lost.Load(); got != 1 {
			t.Errorf("%d runs ended with ErrLeaseLost, want 1", got)
		}
		if got := jobs.count("other"); got != 1 {
			t.Errorf("the other process ran the job %d times after the loss, want once", got)
		}
	})
}

func TestRunThatGoesOnWithoutItsLockKeepsTheNextOneOut(t *testing.T) {
	zktest.Bubble(t, func(t *testing.T) {
		server := zktest.New(t)
		jobs := &room{t: t}
		locker := gocronlock.NewLocker(connect(t, server.DialContext), "/jobs", 0)
		schedule(t, gocron.WithDistributedLocker(locker), time.Minute,
			locker.Task("deaf", func(context.Context) error {
				return jobs.stay(t.Context(), "deaf", 150*time.Second) // ends before Shutdown, which would spin
			}), gocron.WithName("deaf"))
		time.Sleep(65 * time.Second)
		server.ExpireSession(server.Sessions()[0].ID)
		time.Sleep(3 * time.Minute) // the runs at 120 s and 180 s must not begin, that at 240 s must
		if got, want := jobs.count("deaf"), 2; got != want {
			t.Errorf("the job began %d times, want %d", got, want)
		}
		if got := server.Children("/jobs/job-deaf"); len(got) != 1 {
			t.Errorf("the lock has the nodes %v, want that of the second run alone", got)
		}
	})
}

// The context that Unlock gets has ended: gocron cancels it first.
func TestShutdownReleasesTheLockOfTheRunThatItEnds(t *testing.T) {
	zktest.Bubble(t, func(t *testing.T) {
		server := zktest.New(t)
		locker := gocronlock.NewLocker(connect(t, server.DialContext), "/jobs", 0)
		spy := &spy{Locker: locker}
		jobs := &room{t: t}
		shutdown := schedule(t, gocron.WithDistributedLocker(spy), time.Minute,
			locker.Task("nightly", func(ctx context.Context) error { return jobs.stay(ctx, "a", time.Hour) }), gocron.WithName("nightly"))
		time.Sleep(61 * time.Second)
		if got := server.Children("/jobs/job-nightly"); len(got) != 1 {
			t.Fatalf("the running job has the nodes %v, want one", got)
		}
		if err := shutdown(); err != nil {
			t.Errorf("shutdown: got %v, want nil", err)
		}
		if got := server.Children("/jobs/job-nightly"); len(got) != 0 {
			t.Errorf("Shutdown left %v, want no node", got)
		}
		if !errors.Is(spy.ended, context.Canceled) || spy.err != nil {
			t.Errorf("Unlock got a context with %v, and returned %v; want context.Canceled and nil", spy.ended, spy.err)
		}
	})
}

// A spy notes what gocron hands to Unlock, and what it gets.
type spy struct {
	gocron.Locker
	ended, err error
}

func (s *spy) Lock(ctx context.Context, key string) (gocron.Lock, error) {
	lock, err := s.Locker.Lock(ctx, key)
	return &spyLock{lock, s}, err
}

type spyLock struct {
	gocron.Lock
	spy *spy
}

func (l *spyLock) Unlock(ctx context.Context) error {
	l.spy.ended = ctx.Err()
	l.spy.err = l.Lock.Unlock(ctx)
	return l.spy.err
}

func TestTaskOfAJobWithAnotherNameFails(t *testing.T) {
	zktest.Bubble(t, func(t *testing.T) {
		locker := gocronlock.NewLocker(connect(t, zktest.New(t).DialContext), "/jobs", 0)
		failures := make(chan error, 100)
		schedule(t, gocron.WithDistributedLocker(locker), time.Minute, locker.Task("nightly", func(context.Context) error {
			t.Error("the job runs without its lock")
			return nil
		}), gocron.WithName("hourly"), onFailure(func(err error) { failures <- err }))
		want := `no lock is held for job "nightly": the job needs gocron.WithName("nightly") and this locker`
		if got := <-failures; got.Error() != want {
			t.Errorf("got %q, want %q", got, want)
		}
	})
}

func TestEveryKeyIsALockOfItsOwn(t *testing.T) {
	zktest.Bubble(t, func(t *testing.T) {
		locker := gocronlock.NewLocker(connect(t, zktest.New(t).DialContext), "/jobs", 0)
		for _, key := range []string{"", ".", "..", "a", "a/b", "a//b", "a%2Fb", "/", "\x00", "ünï"} {
			lock, err := locker.Lock(t.Context(), key)
			if err != nil {
				t.Errorf("key %q: got %v, want a lock", key, err)
				continue
			}
			defer func() {
				if err := lock.Unlock(t.Context()); err != nil {
					t.Errorf("key %q: Unlock returned %v, want nil", key, err)
				}
			}()
		}
	})
}
