package main

import (
	"context"
	"time"

	"github.com/gocurator/curator/recipes/locks"
)

// cycles acquires and releases an uncontended lock n times, and returns how long each time took.
func cycles(ctx context.Context, mutex *locks.InterProcessMutex, n int) ([]time.Duration, error) {
	return cyclesUntil(ctx, mutex, func(_ time.Time, done int) bool { return done >= n })
}

// cyclesUntil does so until it is over.
func cyclesUntil(
	ctx context.Context, mutex *locks.InterProcessMutex, over func(begun time.Time, done int) bool,
) ([]time.Duration, error) {
	var times []time.Duration
	for first := time.Now(); !over(first, len(times)); {
		begun := time.Now()
		lease, err := mutex.Acquire(ctx)
		if err != nil {
			return nil, err
		}
		if err := lease.Release(); err != nil {
			return nil, err
		}
		times = append(times, time.Since(begun))
	}
	return times, nil
}
