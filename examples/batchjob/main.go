// Batchjob shows a long job that holds a lock from item to item, which costs nothing, and makes room between two items
// when another process waits for the lock. A report that needs the lock for a moment does not wait for the whole job.
//
//	go run -C examples ./batchjob                # on a server in memory
//	go run -C examples ./batchjob -zk zk1:2181   # on real ZooKeeper
package main

import (
	"context"
	_ "embed"
	"fmt"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/gocurator/curator/examples/internal/demo"
	"github.com/gocurator/curator/recipes/locks"
)

//go:embed main.go
var source string // -h prints the comment at its head

func main() { demo.Main(batch, demo.About(source)) }

const (
	items    = 10
	itemTime = 100 * time.Millisecond
	reports  = 2
)

// A job does its items under a lock.
type job struct {
	mutex *locks.InterProcessMutex
	say   func(format string, args ...any)
	next  int // the first item that is not done
	turns int // how often the job took the lock
}

// run does all items. Whenever it has made room for another replica, it takes the lock again.
func (j *job) run(ctx context.Context, done func(item int, lease *locks.Lease)) error {
	for j.next <= items {
		j.turns++
		lease, err := j.mutex.Acquire(ctx)
		if err != nil {
			return err
		}
		err = j.work(lease.Context(ctx), lease, done)
		if released := lease.Release(); err == nil {
			err = released
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// work does items until all are done or another process waits.
func (j *job) work(ctx context.Context, lease *locks.Lease, done func(item int, lease *locks.Lease)) error {
	for j.next <= items {
		select {
		case <-ctx.Done(): // the lock is lost
			return context.Cause(ctx)
		case <-time.After(itemTime): // an item
		}
		j.say("the job has done item %d", j.next)
		done(j.next, lease)
		j.next++
		select {
		case <-lease.Contended():
			j.say("the job makes room")
			return nil
		default:
		}
	}
	return nil
}

func batch(ctx context.Context, env *demo.Env) error {
	client := env.Client()
	j := &job{mutex: locks.NewInterProcessMutex(client, "/lock"), say: env.Say, next: 1}
	hurried := locks.NewInterProcessMutex(env.Client(), "/lock")
	others, othersCtx := errgroup.WithContext(ctx)
	err := j.run(ctx, func(item int, lease *locks.Lease) {
		if item > 1 && item%4 == 1 { // a machine that is busy may be late with the report
			select {
			case <-lease.Contended():
			case <-time.After(time.Minute):
			case <-ctx.Done():
			}
		}
		if item%4 != 0 || item/4 > reports {
			return
		}
		others.Go(func() error {
			select {
			case <-othersCtx.Done():
				return context.Cause(othersCtx)
			case <-time.After(itemTime / 2): // it comes in the middle of the next item
			}
			return locks.Do(othersCtx, hurried, func(context.Context) error {
				env.Say("the report reads what is there")
				return nil
			})
		})
	})
	if err != nil {
		return err
	}
	if err := others.Wait(); err != nil {
		return err
	}
	if j.turns != reports+1 {
		return fmt.Errorf("the job took the lock %d times, and there were %d reports", j.turns, reports)
	}
	env.Say("the job took the lock %d times for %d items", j.turns, items)
	return nil
}
