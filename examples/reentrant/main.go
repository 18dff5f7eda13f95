// Reentrant shows a service whose methods call each other, all under one lock: Transfer holds it, and the two calls of
// Add inside enter it again. Three replicas of the service move money at the same time; none of it may be lost.
//
//	go run -C examples ./reentrant                # on a server in memory
//	go run -C examples ./reentrant -zk zk1:2181   # on real ZooKeeper
package main

import (
	"context"
	_ "embed"
	"fmt"
	"strconv"
	"sync/atomic"

	"golang.org/x/sync/errgroup"

	"github.com/gocurator/curator/examples/internal/demo"
	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/recipes/locks"
)

//go:embed main.go
var source string // -h prints the comment at its head

func main() { demo.Main(bank, demo.About(source)) }

// accounts is one replica of the service.
type accounts struct {
	client *framework.Client
	mutex  *locks.InterProcessMutex
}

// Transfer moves money. No other holder sees the moment at which it is on neither account.
func (a accounts) Transfer(ctx context.Context, from, to string, amount int) error {
	return locks.Do(ctx, a.mutex, func(ctx context.Context) error { // this ctx owns the lock ...
		if err := a.Add(ctx, from, -amount); err != nil { // ... and so Add enters it at once, without asking a server
			return err
		}
		return a.Add(ctx, to, amount)
	})
}

// Add changes one balance. It takes the lock by itself, since it is called by itself, too.
func (a accounts) Add(ctx context.Context, name string, amount int) error {
	return locks.Do(ctx, a.mutex, func(ctx context.Context) error {
		balance, err := a.balance(ctx, name)
		if err != nil {
			return err
		}
		return demo.Put(ctx, a.client, "/accounts/"+name, strconv.Itoa(balance+amount))
	})
}

func (a accounts) balance(ctx context.Context, name string) (int, error) {
	data, _, err := a.client.Get(ctx, "/accounts/"+name)
	if err != nil {
		return 0, err
	}
	return strconv.Atoi(string(data))
}

func bank(ctx context.Context, env *demo.Env) error {
	names := []string{"alice", "bob", "carol"}
	teller := env.Client()
	for _, name := range names {
		if err := demo.Put(ctx, teller, "/accounts/"+name, "100"); err != nil {
			return err
		}
	}

	var holds, reentries atomic.Int64
	count := locks.WithTrace(locks.Trace{AcquireEnd: func(_ context.Context, end locks.AcquireEnd) {
		if end.Reentered {
			reentries.Add(1)
		} else {
			holds.Add(1)
		}
	}})
	const transfers = 10
	replicas, replicasCtx := errgroup.WithContext(ctx)
	for i, from := range names {
		client := env.Client() // each as if it were a process of its own
		replica := accounts{client, locks.NewInterProcessMutex(client, "/lock", count)}
		replicas.Go(func() error {
			for n := range transfers {
				if err := replica.Transfer(replicasCtx, from, names[(i+1+n%2)%3], i+n); err != nil {
					return err
				}
			}
			env.Say("the replica that takes from %s is done", from)
			reported := make(chan struct{}) // calls of traces come in their order
			client.QueueTraceAlways(func() { close(reported) })
			select {
			case <-reported:
				return nil
			case <-replicasCtx.Done():
				return context.Cause(replicasCtx)
			}
		})
	}
	if err := replicas.Wait(); err != nil {
		return err
	}

	total := 0
	for _, name := range names {
		balance, err := accounts{client: teller}.balance(ctx, name)
		if err != nil {
			return err
		}
		env.Say("%s has %d", name, balance)
		total += balance
	}
	if want := int64(transfers * len(names)); holds.Load() != want || reentries.Load() != 2*want {
		return fmt.Errorf("%d holds and %d re-entries, want %d and %d", holds.Load(), reentries.Load(), want, 2*want)
	}
	if total != 300 {
		return fmt.Errorf("300 became %d", total)
	}
	env.Say("%d holds, %d re-entries; all 300 are there", holds.Load(), reentries.Load())
	return nil
}
