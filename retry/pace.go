package retry

import (
	"context"
	"math/rand/v2"
	"time"
)

// A Pace spaces the rounds of work that is begun again whenever it has ended early, for as long as it takes: a server
// that lets every round fail at once is then asked about once a second. The first repetition comes without a pause.
// From the second on pauses grow from 10 ms to a second, each shortened by as much as half at random. After a round
// that has lasted for a second or longer the series starts again.
//
// The zero Pace is ready. It belongs to one goroutine.
type Pace struct{ short int }

// The bounds of pauses, the longer one of which is also the length of a round that counts as a success.
const (
	shortestPause = 10 * time.Millisecond
	longestPause  = time.Second
)

// Next takes how long a round has lasted, and returns the pause before the next one.
func (p *Pace) Next(lasted time.Duration) time.Duration {
	if lasted >= longestPause {
		p.short = 0
	}
	p.short++
	return pacePause(p.short, rand.Float64())
}

// Wait is [Pace.Next], and waits for as long, or until ctx is done.
//
// Errors: [ContextError] of ctx.
func (p *Pace) Wait(ctx context.Context, lasted time.Duration) error {
	return p.WaitOrDone(ctx, lasted, nil)
}

// WaitOrDone is [Pace.Wait], and returns when done is closed, too: there will be no next round.
func (p *Pace) WaitOrDone(ctx context.Context, lasted time.Duration, done <-chan struct{}) error {
	if d := p.Next(lasted); d > 0 {
		timer := time.NewTimer(d)
		defer timer.Stop()
		select {
		case <-timer.C:
		case <-ctx.Done():
		case <-done:
		}
	}
	return ContextError(ctx)
}

// pacePause is the pause after so many short rounds in a row.
func pacePause(short int, random float64) time.Duration {
	if short < 2 {
		return 0
	}
	full := longestPause
	if doublings := short - 2; doublings < 10 {
		full = min(longestPause, shortestPause<<doublings)
	}
	return time.Duration(float64(full) * (1 - random/2))
}
