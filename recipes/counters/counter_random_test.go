package counters_test

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/framework/zktest"
	"github.com/gocurator/curator/recipes/counters"
)

var (
	worlds = flag.Int("worlds", 60, "how many times five random histories are played, of some ten calls each")
	first  = flag.Int("seed", 0, "the seed of the first ones")
)

// Some clients add to one number, while requests and answers are lost, connections break, sessions end and, at an
// ensemble, servers fall behind and elect. In the end the number is the sum of what has counted, and of some of what
// may have counted, and each of these calls was one write.
func TestTheSumIsWhatTheCallersHeard(t *testing.T) {
	var all tally
	for seed := *first; seed < *first+*worlds; seed++ {
		ok := t.Run(fmt.Sprint(seed), func(t *testing.T) {
			zktest.Bubble(t, func(t *testing.T) {
				w := newWorld(t, rand.New(rand.NewPCG(uint64(seed), 1)))
				for range 5 {
					w.begin()
					w.run()
					w.judge()
					all.add(w.tally)
				}
				w.end()
			})
		})
		if !ok {
			return
		}
	}
	t.Logf("%+v", all)
	if *worlds >= 60 && (all.Unknown < 100 || all.Unknown > all.Counted/2 || all.Refused == 0 || all.Calm < 10) {
		t.Errorf("got %+v, want some of each, and most counted", all)
	}
}

// A tally is how calls have ended.
type tally struct{ Counted, Refused, Unknown, Calm int }

func (t *tally) add(other tally) {
	t.Counted += other.Counted
	t.Refused += other.Refused
	t.Unknown += other.Unknown
	t.Calm += other.Calm
}

// A call is one that has counted, or may have.
type call struct{ before, after int64 }

// A history is one counter from its beginning.
type history struct {
	start  int64
	upward bool // all deltas are positive

	mu      sync.Mutex
	counted []call
	unknown []int64 // deltas
	tally   tally
}

// begin begins the next history, mostly with a node.
func (w *world) begin() {
	w.history = history{upward: w.rand.IntN(2) == 0}
	server := w.ensemble.Leader()
	if server.Exists(path) {
		remove(w.t, server)
	}
	if w.rand.IntN(4) > 0 {
		w.start = w.rand.Int64N(100)
		number(w.t, server, w.start)
	}
}

func (w *world) run() {
	var callers sync.WaitGroup
	for _, client := range w.clients {
		random := rand.New(rand.NewPCG(w.rand.Uint64(), 2))
		callers.Go(func() { w.call(client, random) })
	}
	ended, stormed := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(stormed)
		w.storm(ended)
	}()
	callers.Wait()
	close(ended)
	<-stormed
	w.calmDown()
	time.Sleep(3 * time.Second) // the last late write is executed by then
}

// call makes calls of one client, and notes how they end.
func (w *world) call(client *framework.Client, random *rand.Rand) {
	var opts []counters.Option
	if random.IntN(2) == 0 {
		opts = append(opts, counters.WithLock(lockPath))
	}
	l := counters.NewDistributedAtomicLong(client, path, opts...)
	for range 1 + random.IntN(5) {
		time.Sleep(time.Duration(random.IntN(10)) * time.Millisecond)
		delta := 1 + random.Int64N(2)
		if !w.upward && random.IntN(2) == 0 {
			delta = -delta
		}
		if random.IntN(5) == 0 {
			w.compareAndSet(l, delta)
			continue
		}
		ctx, cancel := context.WithTimeout(w.t.Context(), time.Duration(1+random.IntN(60))*time.Second)
		before, after, err := l.Add(ctx, delta)
		cancel()
		if err == nil && after != before+delta {
			w.t.Errorf("Add(%d): got %d, %d", delta, before, after)
		}
		w.note(before, delta, err)
	}
}

func (w *world) compareAndSet(l *counters.DistributedAtomicLong, delta int64) {
	now, err := l.Get(w.t.Context())
	if err != nil {
		return
	}
	ok, err := l.CompareAndSet(w.t.Context(), now, now+delta)
	if err == nil && !ok {
		return
	}
	w.note(now, delta, err)
}

func (w *world) note(before, delta int64, err error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	switch {
	case err == nil:
		w.counted = append(w.counted, call{before, before + delta})
		w.tally.Counted++
	case errors.Is(err, counters.ErrUnknown):
		w.unknown = append(w.unknown, delta)
		w.tally.Unknown++
	default:
		w.tally.Refused++
	}
	if w.calm && err != nil {
		w.t.Errorf("without a fault: got %v", err)
	}
}

// judge compares the number with what the callers have heard.
func (w *world) judge() {
	stat, ok := w.ensemble.Leader().Stat(path)
	if !ok && len(w.counted) == 0 {
		return
	}
	got, err := counters.NewDistributedAtomicLong(w.clients[0], path).Get(w.t.Context())
	if err != nil {
		w.t.Fatal(err)
	}
	sums := map[int64]bool{w.start: true}
	for _, c := range w.counted {
		sums = plus(sums, c.after-c.before)
	}
	for _, delta := range w.unknown {
		for sum := range plus(sums, delta) {
			sums[sum] = true
		}
	}
	if !sums[got] {
		w.t.Errorf("from %d: got %d, want one of %v: counted %v, perhaps %v", w.start, got, sums, w.counted, w.unknown)
	}
	if n := int(stat.Version); n < len(w.counted) || n > len(w.counted)+len(w.unknown) {
		w.t.Errorf("got %d writes, want %d, and up to %d more", n, len(w.counted), len(w.unknown))
	}
	if w.upward {
		w.judgeOrder()
	}
}

func plus(sums map[int64]bool, delta int64) map[int64]bool {
	moved := map[int64]bool{}
	for sum := range sums {
		moved[sum+delta] = true
	}
	return moved
}

// judgeOrder checks that no two calls were given parts of the same range.
func (w *world) judgeOrder() {
	slices.SortFunc(w.counted, func(a, b call) int { return int(a.before - b.before) })
	for i, c := range w.counted {
		if i > 0 && c.before < w.counted[i-1].after {
			w.t.Errorf("got %v and %v, want ranges apart", w.counted[i-1], c)
		}
	}
}
