package schedulers_test

import (
	"slices"
	"sync"
	"time"
)

// ticks are the runs of a job in all replicas, since the last tick before the beginning of the test.
type ticks struct {
	start time.Time
	every time.Duration

	mu  sync.Mutex
	ran []run // guarded by mu
}

type run struct {
	who string
	at  time.Time
}

func newTicks(every time.Duration) *ticks {
	return &ticks{start: time.Now().Truncate(every), every: every}
}

func (r *ticks) add(who string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.ran = append(r.ran, run{who, time.Now()})
}

// counts returns how many runs began after each tick, but for the one before the test began, which a late clock has yet
// to come to.
func (r *ticks) counts() []int {
	r.mu.Lock()
	defer r.mu.Unlock()
	count := make([]int, int(time.Since(r.start)/r.every)+1)
	for _, ran := range r.ran {
		count[int(ran.at.Sub(r.start)/r.every)]++
	}
	return count[1:]
}

// last returns which replica ran last.
func (r *ticks) last() string {
	r.mu.Lock()
	defer r.mu.Unlock()
	if len(r.ran) == 0 {
		return ""
	}
	return r.ran[len(r.ran)-1].who
}

func once(ticks int) []int { return slices.Repeat([]int{1}, ticks) }
