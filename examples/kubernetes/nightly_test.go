package kubernetes_test

import (
	"context"
	"errors"
	"log/slog"
	"testing"
	"time"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/framework/zktest"
	"github.com/gocurator/curator/recipes/locks"
)

// nightly returns the exit status. main calls os.Exit with it after client.Close.
func nightly(ctx context.Context, client *framework.Client, work func(ctx context.Context) error) int {
	mutex := locks.NewInterProcessMutex(client, "/locks/nightly")
	err := locks.Do(ctx, locks.Within(mutex, 0), func(ctx context.Context) error {
		err := work(ctx)
		select { // a machine whose clock is late by less finds the lock taken, and does not work again
		case <-time.After(10 * time.Second):
		case <-ctx.Done():
		}
		return err
	})
	switch {
	case errors.Is(err, locks.ErrNotAcquired):
		return 75 // another machine does it
	case err != nil:
		slog.Error("nightly", "err", err)
		return 1
	}
	return 0
}

func TestNightlyJobIsDoneByOneMachineAlthoughClocksDiffer(t *testing.T) {
	zktest.Bubble(t, func(t *testing.T) {
		server := zktest.New(t)
		done := 0
		start := func(work func(context.Context) error) <-chan int {
			client, err := framework.NewClient("any:2181", framework.WithDialer(server.DialContext))
			if err != nil {
				t.Fatal(err)
			}
			status := make(chan int, 1)
			go func() {
				defer client.Close()
				status <- nightly(t.Context(), client, work)
			}()
			return status
		}
		job := func(context.Context) error { done++; return nil }
		first := start(job)
		time.Sleep(5 * time.Second) // the second machine's clock is late
		if got := <-start(job); got != 75 {
			t.Errorf("the late machine: got status %d, want 75", got)
		}
		if got := <-first; got != 0 || done != 1 {
			t.Errorf("the first machine: got status %d and %d runs, want 0 and 1", got, done)
		}
		if got := <-start(job); got != 0 || done != 2 {
			t.Errorf("the next night: got status %d and %d runs, want 0 and 2", got, done)
		}
		if got := <-start(func(context.Context) error { return errors.New("disk full") }); got != 1 {
			t.Errorf("a job that fails: got status %d, want 1", got)
		}
	})
}
