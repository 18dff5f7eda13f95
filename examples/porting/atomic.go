package porting

import (
	"context"
	"errors"
	"time"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/recipes/counters"
)

// Hit is Atomic.hit.
func Hit(ctx context.Context, client *framework.Client) (int64, error) {
	ctx, cancel := context.WithTimeout(ctx, 10*time.Second) // for what Java's policies and the time for the lock are
	defer cancel()
	_, after, err := counters.NewDistributedAtomicLong(client, "/hits", counters.WithLock("/locks/hits")).Add(ctx, 1)
	return after, err
}

// Correct is Atomic.correct.
func Correct(ctx context.Context, client *framework.Client, from, to int32) (bool, error) {
	open := counters.NewDistributedAtomicInteger(client, "/open")
	if _, err := open.Initialize(ctx, 0); err != nil {
		return false, err
	}
	return open.CompareAndSet(ctx, from, to)
}

// Reset is Atomic.reset.
func Reset(ctx context.Context, client *framework.Client) error {
	return counters.NewDistributedAtomicInteger(client, "/open").Set(ctx, 0)
}

// Number is Atomic.number, where a CachedAtomicLong takes a hundred numbers at a time.
func Number(ctx context.Context, client *framework.Client, many int) (given []int64, err error) {
	numbers := counters.NewDistributedAtomicLong(client, "/numbers")
	var next, end int64
	for len(given) < many {
		if next == end {
			next, end, err = numbers.Add(ctx, 100)
			switch {
			case errors.Is(err, counters.ErrUnknown) && ctx.Err() == nil:
				continue // a block may be lost, which does no harm
			case err != nil:
				return nil, err
			}
		}
		given, next = append(given, next), next+1
	}
	return given, nil
}
