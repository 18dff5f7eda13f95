// Singleton shows a nightly job of which three replicas stand by and one runs. The first replica dies in the middle;
// the second goes on where it stood, until an operator asks it to leave; the third finishes.
//
//	go run -C examples ./singleton                # on a server in memory
//	go run -C examples ./singleton -zk zk1:2181   # on real ZooKeeper
package main

import (
	"context"
	_ "embed"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/go-zookeeper/zk"

	"github.com/gocurator/curator/examples/internal/demo"
	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/framework/session"
	"github.com/gocurator/curator/recipes/locks"
)

//go:embed main.go
var source string // -h prints the comment at its head

func main() { demo.Main(night, demo.About(source)) }

const (
	items   = 9          // the size of the job
	journal = "/journal" // lists the replica that did each item, "1 1 1 2 2 …"
)

// A replica is one of the processes that could run the job.
type replica struct {
	number int
	client *framework.Client
	mutex  *locks.InterProcessMutex
	say    func(format string, args ...any)
}

// standBy waits until the lock is free, and runs what is left of the job while it holds it.
func (r replica) standBy(ctx context.Context, done func(item int, lease *locks.Lease) error) error {
	lease, err := r.mutex.Acquire(ctx)
	if err != nil {
		return err
	}
	r.say("replica %d runs the job", r.number)
	err = r.job(lease.Context(ctx), lease, done) // this context ends when the lock is lost
	if lost := lease.Err(); lost != nil {        // whatever err is, this is why; the next replica is at work soon
		r.say("replica %d stops: %v", r.number, lost)
		return nil
	}
	return errors.Join(err, lease.Release())
}

// job does the items that are not in the journal yet.
func (r replica) job(ctx context.Context, lease *locks.Lease, done func(item int, lease *locks.Lease) error) error {
	for {
		entries, _, err := r.client.Get(ctx, journal)
		if isOutage(err) && ctx.Err() == nil { // it ends nothing while the lock is held
			continue
		}
		if err != nil {
			return err
		}
		item := len(strings.Fields(string(entries))) + 1
		if item > items {
			r.say("replica %d finds the job done", r.number)
			return nil
		}
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-lease.RevocationRequested():
			r.say("replica %d was asked to leave, and leaves between two items", r.number)
			return nil
		case <-time.After(100 * time.Millisecond): // the work
		}
		// With the check in front nothing is written by a replica that lost the lock and did not see it yet.
		_, err = r.client.Transaction(ctx, lease.Check(),
			framework.SetOp(journal, []byte(string(entries)+strconv.Itoa(r.number)+" "), -1))
		if err != nil {
			return err
		}
		r.say("replica %d has done item %d", r.number, item)
		if err := done(item, lease); err != nil {
			return err
		}
	}
}

func isOutage(err error) bool {
	return session.Outage(err) || errors.Is(err, framework.ErrConnectionLost)
}

func night(ctx context.Context, env *demo.Env) error {
	operator := env.Client()
	if err := demo.Put(ctx, operator, journal, ""); err != nil {
		return err
	}
	mutex := locks.NewInterProcessMutex(operator, "/lock")

	replicas, replicasCtx := errgroup.WithContext(ctx)
	for number := 1; number <= 3; number++ {
		client, line := env.BreakableClient()
		r := replica{number, client, locks.NewInterProcessMutex(client, "/lock"), env.Say}
		replicas.Go(func() error {
			return r.standBy(replicasCtx, func(item int, lease *locks.Lease) error {
				switch {
				case number == 1 && item == 3:
					env.Say("replica 1 is cut off from everything")
					line.Cut()
				case number == 2 && item == 6:
					return askToLeave(replicasCtx, operator, mutex, lease)
				}
				return nil
			})
		})
		if err := queued(ctx, mutex, number); err != nil { // so that they come in their order
			return err
		}
	}
	if err := replicas.Wait(); err != nil {
		return err
	}

	entries, _, err := operator.Get(ctx, journal)
	if err != nil {
		return err
	}
	did := strings.Fields(string(entries))
	if len(did) != items || did[0] != "1" || did[items-1] != "3" || !strings.Contains(string(entries), "2") {
		return fmt.Errorf("the items were done by %v", did)
	}
	env.Say("every item was done once, by replicas %s", entries)
	return nil
}

// askToLeave asks the holder to let go, and waits until it has heard of that: on a busy machine it would be done with
// its items before. The holder decides.
func askToLeave(ctx context.Context, client *framework.Client, mutex *locks.InterProcessMutex, lease *locks.Lease) error {
	line, err := mutex.Participants(ctx)
	if err == nil && len(line) > 0 {
		err = locks.AttemptRevoke(ctx, client, line[0].Path) // the holder is the first
	}
	if err != nil && !errors.Is(err, zk.ErrNoNode) {
		return err
	}
	select {
	case <-lease.RevocationRequested():
	case <-lease.Done(): // its node was gone already
	case <-ctx.Done():
	}
	return nil
}

// queued waits until so many stand in the queue.
func queued(ctx context.Context, mutex *locks.InterProcessMutex, n int) error {
	for {
		line, err := mutex.Participants(ctx)
		if err != nil && !errors.Is(err, zk.ErrNoNode) || len(line) >= n {
			return err
		}
		time.Sleep(10 * time.Millisecond)
	}
}
