// Workerpool shows a limit for the workers of all processes together, say the number of connections that a database can
// bear. The limit is a number in ZooKeeper: an operator raises and lowers it while they work.
//
//	go run -C examples ./workerpool                # on a server in memory
//	go run -C examples ./workerpool -zk zk1:2181   # on real ZooKeeper
package main

import (
	"context"
	_ "embed"
	"errors"

	"golang.org/x/sync/errgroup"

	"github.com/gocurator/curator/examples/internal/demo"
	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/recipes/locks"
	"github.com/gocurator/curator/recipes/shared"
)

//go:embed main.go
var source string // -h prints the comment at its head

func main() { demo.Main(pool, demo.About(source)) }

const (
	processes = 2
	workers   = 5 // in each process
)

// process runs some workers, which do one job after the other, each with a lease in its hands.
func process(ctx context.Context, client *framework.Client, g *gauge) error {
	limit := shared.NewSharedCount(client, "/limit", 1)
	if err := limit.Start(ctx); err != nil {
		return err
	}
	defer limit.Close() //nolint:errcheck // it has nothing to say
	defer g.follow(limit)()
	semaphore := locks.NewInterProcessSemaphoreV2WithCount(client, "/pool", limit)
	group, ctx := errgroup.WithContext(ctx)
	for range workers {
		asks := g.hire()
		group.Go(func() error {
			for !g.finished() {
				asks()
				if err := locks.Do(ctx, semaphore, g.job); err != nil {
					return err
				}
			}
			return nil
		})
	}
	return group.Wait()
}

func pool(ctx context.Context, env *demo.Env) error {
	operator := env.Client()
	limit := shared.NewSharedCount(operator, "/limit", 2)
	if err := limit.Start(ctx); err != nil {
		return err
	}
	defer limit.Close()                            //nolint:errcheck // it has nothing to say
	defer operator.Delete(ctx, "/limit", -1)       //nolint:errcheck // the one node that would stay
	if err := limit.SetCount(ctx, 2); err != nil { // it may be there from another time
		return err
	}

	g := newGauge(2)
	all, allCtx := errgroup.WithContext(ctx)
	for range processes {
		client := env.Client()
		all.Go(func() error { return process(allCtx, client, g) })
	}
	err := operate(allCtx, env, limit, g)
	g.finish()
	if err := errors.Join(err, all.Wait()); err != nil {
		return err
	}
	env.Say("never more at work than the limit allowed")
	return nil
}

// operate moves the limit, and looks each time how many of the ten workers are at work.
func operate(ctx context.Context, env *demo.Env, limit *shared.SharedCount, g *gauge) error {
	for _, n := range []int32{2, 6, 1, 3} {
		before := limit.Count()
		g.allow(int(max(n, before))) // a lowered limit takes no lease away: who works finishes the job
		if err := limit.SetCount(ctx, n); err != nil {
			return err
		}
		if err := g.settle(ctx, n); err != nil {
			return err
		}
		g.allow(int(n))
		if err := g.reach(ctx, int(n)); err != nil {
			return err
		}
		if err := g.stay(ctx); err != nil {
			return err
		}
		env.Say("limit %d: %d at work", n, n)
	}
	return nil
}
