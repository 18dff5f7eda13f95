package schedulers_test

import (
	"context"
	"errors"
	"net"
	"slices"
	"sync/atomic"
	"testing"
	"time"

	"github.com/robfig/cron/v3"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/framework/zktest"
	"github.com/gocurator/curator/recipes/locks"
)

const timeout = 20 * time.Second // the session timeout

func connect(t *testing.T, dial func(ctx context.Context, network, address string) (net.Conn, error)) *framework.Client {
	t.Helper()
	client, err := framework.NewClient("any:2181", framework.WithDialer(dial), framework.WithSessionTimeout(timeout))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = client.Close() })
	return client
}

// onOneReplica stands on the page.
func onOneReplica(ctx context.Context, mutex *locks.InterProcessMutex, hold time.Duration, log cron.Logger,
) cron.JobWrapper {
	return func(job cron.Job) cron.Job {
		return cron.FuncJob(func() {
			free := time.After(hold)
			soon, cancel := context.WithTimeout(ctx, hold/2) // a tick that waits for the servers is not run late
			lease, err := mutex.TryAcquire(soon)
			cancel()
			if errors.Is(err, locks.ErrNotAcquired) {
				log.Info("skip: another process runs it")
				return
			}
			if err != nil {
				log.Error(err, "skip")
				return
			}
			defer func() {
				<-free // a process whose clock is late must not find the lock free again
				if err := lease.Release(); err != nil {
					log.Error(err, "lock of a job")
				}
			}()
			if j, ok := job.(interface{ RunContext(ctx context.Context) }); ok {
				j.RunContext(lease.Context(ctx))
			} else {
				job.Run()
			}
		})
	}
}

// A work is a job that hears of the end of its lock.
type work func(ctx context.Context)

func (w work) Run()                           { w(context.Background()) }
func (w work) RunContext(ctx context.Context) { w(ctx) }

// A late parser is that of a process whose clock is late by so much.
type late time.Duration

type schedule struct {
	cron.Schedule
	late time.Duration
}

func (l late) Parse(spec string) (cron.Schedule, error) {
	s, err := cron.ParseStandard(spec)
	return schedule{s, time.Duration(l)}, err
}

func (s schedule) Next(now time.Time) time.Time { return s.Schedule.Next(now.Add(-s.late)).Add(s.late) }

// runHourly runs a job each hour, by a clock that is late by so much, until the end of the test.
func runHourly(t *testing.T, client *framework.Client, job cron.Job, clock time.Duration, log cron.Logger) {
	t.Helper()
	ctx, schedule := t.Context(), cron.New(cron.WithLocation(time.UTC), cron.WithParser(late(clock)))
	mutex := locks.NewInterProcessMutex(client, "/jobs/report")
	chain := cron.NewChain(cron.Recover(log), onOneReplica(ctx, mutex, 10*time.Second, log))
	_, err := schedule.AddJob("0 * * * *", chain.Then(job))
	if err != nil {
		t.Fatal(err)
	}
	schedule.Start()
	t.Cleanup(func() { <-schedule.Stop().Done() })
}

func TestTickOfCronRunsOnceOnReplicasWithDifferentClocks(t *testing.T) {
	zktest.Bubble(t, func(t *testing.T) {
		zk, jobs := zktest.New(t), newTicks(time.Hour)
		for i, who := range []string{"a", "b", "c"} {
			job := cron.FuncJob(func() { jobs.add(who) })
			runHourly(t, connect(t, zk.DialContext), job, time.Duration(2*i)*time.Second, cron.DiscardLogger)
		}
		time.Sleep(10*time.Hour + time.Minute)
		if got := jobs.counts(); !slices.Equal(got, once(10)) {
			t.Errorf("got %v runs a tick, want one each", got)
		}
	})
}

// Without its bound, the wait for the servers would outlast the hold of the other process.
func TestTickOfCronThatHadToWaitForTheServersIsNotRunLate(t *testing.T) {
	zktest.Bubble(t, func(t *testing.T) {
		zk, jobs := zktest.New(t), newTicks(time.Hour)
		link := zk.NewLink()
		runHourly(t, connect(t, link.DialContext), cron.FuncJob(func() { jobs.add("cut") }), 0, cron.DiscardLogger)
		runHourly(t, connect(t, zk.DialContext), cron.FuncJob(func() { jobs.add("other") }), 0, cron.DiscardLogger)
		time.Sleep(time.Hour - 100*time.Millisecond)
		link.Cut()
		time.Sleep(11 * time.Second)
		link.Heal()
		time.Sleep(time.Minute)
		if got := jobs.counts(); !slices.Equal(got, once(1)) || jobs.last() != "other" {
			t.Errorf("got %v runs of the tick, the last by %q, want one by the other", got, jobs.last())
		}
	})
}

func TestJobOfCronThatLosesItsLockEndsBeforeItRunsElsewhere(t *testing.T) {
	zktest.Bubble(t, func(t *testing.T) {
		zk, jobs := zktest.New(t), newTicks(time.Hour)
		var inside atomic.Int32
		stays := func(who string) cron.Job { // for so long that it is under way at the next tick
			return work(func(ctx context.Context) {
				if inside.Add(1) > 1 {
					t.Errorf("%s runs beside another one", who)
				}
				defer inside.Add(-1)
				jobs.add(who)
				select {
				case <-ctx.Done():
				case <-time.After(90 * time.Minute):
				}
			})
		}
		link := zk.NewLink()
		runHourly(t, connect(t, link.DialContext), stays("first"), 0, cron.DiscardLogger)
		time.Sleep(90 * time.Minute)
		runHourly(t, connect(t, zk.DialContext), stays("second"), 0, cron.DiscardLogger)
		time.Sleep(20 * time.Minute)
		link.Cut() // at 01:50
		time.Sleep(20 * time.Minute)
		if got := jobs.counts(); !slices.Equal(got, []int{1, 1}) || jobs.last() != "second" {
			t.Errorf("got %v runs a tick, the last by %q, want one each, the last by the second", got, jobs.last())
		}
	})
}

func TestJobOfCronThatPanicsReleasesItsLockAtTheEndOfItsHold(t *testing.T) {
	zktest.Bubble(t, func(t *testing.T) {
		zk := zktest.New(t)
		panics := cron.FuncJob(func() {
			time.Sleep(5 * time.Second)
			panic("a job")
		})
		runHourly(t, connect(t, zk.DialContext), panics, 0, cron.DiscardLogger)
		time.Sleep(time.Hour)
		for _, want := range []int{1, 0} { // nodes
			time.Sleep(6 * time.Second)
			if got := zk.Children("/jobs/report"); len(got) != want {
				t.Errorf("%v after the tick, the lock has the nodes %v, want %d", time.Since(time.Now().Truncate(time.Hour)), got, want)
			}
		}
	})
}

// An errorLog counts errors.
type errorLog struct {
	cron.Logger
	errs atomic.Int32
}

func (l *errorLog) Error(error, string, ...any) { l.errs.Add(1) }

func TestSkippedTickOfCronIsNoErrorUnlessTheServersAreAway(t *testing.T) {
	zktest.Bubble(t, func(t *testing.T) {
		link, jobs, log := zktest.New(t).NewLink(), newTicks(time.Hour), &errorLog{Logger: cron.DiscardLogger}
		for _, who := range []string{"a", "b"} {
			runHourly(t, connect(t, link.DialContext), cron.FuncJob(func() { jobs.add(who) }), 0, log)
		}
		time.Sleep(90 * time.Minute)
		if got := log.errs.Load(); got != 0 {
			t.Errorf("got %d errors, want none", got)
		}
		link.Cut()
		time.Sleep(time.Hour)
		if got := log.errs.Load(); got != 2 {
			t.Errorf("without servers: got %d errors, want one for each replica", got)
		}
		if got := jobs.counts(); !slices.Equal(got, []int{1, 0}) {
			t.Errorf("got %v runs a tick, want one and none", got)
		}
	})
}
