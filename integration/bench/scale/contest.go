package main

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/recipes/locks"
)

// every does something for 0 … n-1, all of them at the same time.
func every(ctx context.Context, n int, do func(ctx context.Context, i int) error) error {
	group, ctx := errgroup.WithContext(ctx)
	for i := range n {
		group.Go(func() error { return do(ctx, i) })
	}
	return group.Wait()
}

// A contested lock is one that many want all the time.
type contested struct {
	mu        sync.Mutex
	token     int64     // the newest grant's
	holder    int       // 1 more than the number of the holder
	last      int       // who had it last
	released  time.Time // when its Release was called
	begun     time.Time // when the first had it
	ended     time.Time
	grants    int
	handOvers []time.Duration
}

// contest lets each client acquire one lock again and again, and keep it for a while, until it is over. Among several
// clients it is not over before the lock was handed over. It reports the times from the call of Release to the return
// of another client's Acquire.
func contest(
	ctx context.Context, clients []*framework.Client, path string, hold time.Duration, over func(begun time.Time, grants int) bool,
) (*contested, error) {
	c := &contested{}
	playing, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	errOver := errors.New("the contest is over")
	err := every(playing, len(clients), func(ctx context.Context, i int) error {
		mutex := locks.NewInterProcessMutex(clients[i], path)
		for {
			lease, err := mutex.Acquire(ctx)
			now := time.Now()
			if err != nil {
				if errors.Is(context.Cause(playing), errOver) {
					return nil
				}
				return err
			}
			if err := c.admit(i, lease.FencingToken(), now); err != nil {
				return err
			}
			time.Sleep(hold)
			if c.leave(i, over) && (len(clients) == 1 || c.handedOver()) {
				stop(errOver)
			}
			if err := lease.Release(); err != nil {
				return err
			}
		}
	})
	return c, errors.Join(err, empty(ctx, clients[0], path))
}

func (c *contested) admit(i int, token int64, now time.Time) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.holder != 0 {
		return fmt.Errorf("clients %d and %d had the lock at once", c.holder-1, i)
	}
	if token <= c.token {
		return fmt.Errorf("out of order: %#x after %#x", token, c.token)
	}
	if c.grants == 0 {
		c.begun = now
	} else if i != c.last {
		c.handOvers = append(c.handOvers, now.Sub(c.released))
	}
	c.token, c.holder, c.ended = token, i+1, now
	c.grants++
	return nil
}

// leave is called before the release, and reports whether it is over.
func (c *contested) leave(i int, over func(begun time.Time, grants int) bool) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.holder, c.last, c.released = 0, i, time.Now()
	return over(c.begun, c.grants)
}

func (c *contested) handedOver() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return len(c.handOvers) > 0
}

func (c *contested) rate() number {
	return number(c.grants-1) / number(c.ended.Sub(c.begun).Seconds())
}
