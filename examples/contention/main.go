// Contention shows a lock at work: several workers, each with a client of its own, contend for one InterProcessMutex.
// They queue in order, hold it, and hand it over.
//
//	go run -C examples ./contention                # on a server in memory: needs nothing but Go
//	go run -C examples ./contention -crash 3       # worker 3 loses its connection while it holds
//	go run -C examples ./contention -zk zk1:2181   # on real ZooKeeper; run it in several terminals at once
//
// At the end it checks that no two holds overlapped and that the order was first come, first served. The exit status is
// 0 if all workers have done their rounds and both were so, 1 if not, and 130 or 143 if SIGINT or SIGTERM ended it
// before; it lets go of everything first.
package main

import (
	"context"
	_ "embed"
	"errors"
	"flag"
	"fmt"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/gocurator/curator/examples/internal/demo"
	"github.com/gocurator/curator/examples/internal/lanes"
	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/recipes/locks"
)

//go:generate go run . -crash 3 -picture contention.svg

//go:embed main.go
var source string // -h prints the comment at its head

var (
	workers = flag.Int("workers", 10, "how many workers contend")
	rounds  = flag.Int("rounds", 1, "how often each worker takes the lock")
	hold    = flag.Duration("hold", 300*time.Millisecond, "how long it holds it")
	crash   = flag.Int("crash", 0, "cut the connection of worker `N` while it holds, and keep it cut")
	picture = flag.String("picture", "", "write a picture (SVG) of who held the lock and who waited to `file`")
)

func main() { demo.Main(play, demo.About(source)) }

// play lets the workers contend, and reports.
func play(ctx context.Context, env *demo.Env) error {
	var problems []error
	refuse := func(wrong bool, format string, value any) {
		if wrong {
			problems = append(problems, fmt.Errorf(format, value))
		}
	}
	refuse(*workers < 1, "-workers %d: at least one must work", *workers)
	refuse(*rounds < 1, "-rounds %d: at least one is needed", *rounds)
	refuse(*hold < 0, "-hold %v: must not be negative", *hold)
	refuse(*crash < 0 || *crash > *workers, "-crash %d: there is no such worker", *crash)
	if problems != nil {
		return &demo.UsageError{Err: errors.Join(problems...)}
	}
	env.Say("%d workers contend for one lock. Each holds it for %v.", *workers, *hold)
	r := &record{env: env, begun: time.Now(), lanes: make([]lane, *workers)}
	group, ctx := errgroup.WithContext(ctx)
	for i := range *workers {
		client, line := env.BreakableClient(framework.WithStateListener(func(now framework.StateChange) {
			if now.State != framework.StateConnected && ctx.Err() == nil { // not the first, and not the last
				r.note(i, time.Now(), func(l *lane) { l.away = now.State != framework.StateReconnected }, "connection %v", now.State)
			}
		}))
		group.Go(func() error { return work(ctx, r, i, client, line) })
	}
	if err := errors.Join(group.Wait(), r.check()); err != nil {
		return err
	}
	env.Say("%d holds. No two overlapped. First come, first served.", len(r.turns))
	if *picture == "" {
		return nil
	}
	return r.draw(*picture)
}

// work takes the lock once in each round.
func work(ctx context.Context, r *record, i int, client *framework.Client, line *demo.Line) error {
	mutex := locks.NewInterProcessMutex(client, "/lock")
	for range *rounds {
		r.note(i, time.Now(), func(l *lane) { l.role = lanes.Waits }, "queues")
		lease, err := mutex.Acquire(ctx)
		if err != nil {
			return err
		}
		h := turn{worker: i + 1, token: lease.FencingToken(), from: time.Now()}
		r.note(i, h.from, func(l *lane) { l.role = lanes.Holds }, "HOLDS, token %d", h.token)
		done := time.After(*hold) // the work
		if *crash == h.worker {
			done = nil
			time.AfterFunc(*hold, line.Cut)
		}
		select {
		case <-done:
		case <-lease.Done(): // by the client's own clock, if no server can report it
		case <-ctx.Done():
			return context.Cause(ctx) // the end of the client lets go, also while cut off
		}
		h.until = time.Now() // before the Release, so no other worker can hold the lock yet
		role, text := lanes.Idle, "releases it"
		if lost := lease.Err(); lost != nil {
			role, text = lanes.Gone, fmt.Sprint("LOST: ", errors.Unwrap(lost))
			if end := lease.ValidUntil(); end.Before(h.until) {
				h.until = end
			}
		}
		r.note(i, h.until, func(l *lane) { l.role, r.turns = role, append(r.turns, h) }, "%s", text)
		if err := lease.Release(); err != nil && !errors.Is(err, locks.ErrLeaseLost) {
			return err
		}
		if *crash == h.worker {
			return nil
		}
	}
	return nil
}
