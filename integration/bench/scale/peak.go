package main

import (
	"context"
	"time"
)

// peakOf begins to look for the tenth of a second with the most of something, and returns what ends that.
func (r *rig) peakOf(ctx context.Context, what func(count) number) func() number {
	ctx, cancel := context.WithCancel(ctx)
	result := make(chan number)
	go func() {
		var most number
		last := r.wire.now()
		for tick := time.NewTicker(100 * time.Millisecond); ; {
			var over bool
			select {
			case <-tick.C:
			case <-ctx.Done():
				tick.Stop()
				over = true
			}
			now := r.wire.now()
			most, last = max(most, what(now.minus(last))), now
			if over {
				result <- most
				return
			}
		}
	}()
	return func() number {
		cancel()
		return <-result
	}
}
