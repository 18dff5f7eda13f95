package worker

import (
	"context"
	"math/rand/v2"
	"time"

	"github.com/gocurator/curator/integration/bench/job"
)

// A worker takes its lock again and again.
type worker struct {
	*team
	lock pair
	rand *rand.Rand // the same numbers in every run
	did  job.Worker
}

// A cycle is one acquisition: when acquire was called and returned, and release was called and returned.
type cycle struct {
	called, acquired, releasing, released int64
	wrote                                 bool
}

// work goes on until the window has passed. Who waits then waits on: it gets the lock when those before it are through.
func (w *worker) work(ctx context.Context) {
	for n := 0; !w.over(); n++ {
		c, ok := w.cycle(ctx, job.Writes(w.did.Number, n))
		if ok {
			w.note(c)
		}
		w.think()
	}
}

// think waits for twice the average at most, and not past the end of the window.
func (w *worker) think() {
	if w.job.Think <= 0 {
		return
	}
	d := time.Duration(w.rand.Int64N(2 * int64(w.job.Think)))
	if window := w.window.Load(); window != nil {
		d = min(d, w.clock.Until(window.End))
	}
	time.Sleep(d)
}

func (w *worker) over() bool {
	window := w.window.Load()
	return window != nil && w.clock.Now() >= window.End
}

func (w *worker) cycle(ctx context.Context, writes bool) (c cycle, ok bool) {
	take := w.lock.read
	if writes {
		take = w.lock.write
	}
	c = cycle{called: w.clock.Now(), wrote: writes}
	release, err := take(ctx)
	for err != nil { // the wait goes on: that a library gives up is its way of waiting
		w.failed(err)
		time.Sleep(time.Millisecond)
		if w.over() {
			return c, false
		}
		release, err = take(ctx)
	}
	c.acquired = w.clock.Now()
	if w.job.Hold > 0 {
		time.Sleep(w.job.Hold)
	}
	c.releasing = w.clock.Now()
	err = release(ctx)
	c.released = w.clock.Now()
	if err != nil {
		w.failed(err)
	}
	return c, true
}

func (w *worker) failed(err error) {
	if w.window.Load() == nil {
		return
	}
	w.did.Errors++
	if w.did.Error == "" {
		w.did.Error = err.Error()
	}
}

func (w *worker) note(c cycle) {
	window := w.window.Load()
	if window == nil || c.acquired < window.Start || c.called >= window.End {
		return
	}
	if c.acquired < window.End {
		w.did.Acquired++
	}
	if len(w.did.Stamps) >= job.Stamped*w.job.Record {
		if w.did.Full == 0 {
			w.did.Full = c.acquired - window.Start
		}
		return
	}
	wrote := int64(0)
	if c.wrote {
		wrote = 1
	}
	w.did.Stamps = append(w.did.Stamps,
		c.called-window.Start, c.acquired-window.Start, c.releasing-window.Start, c.released-window.Start, wrote)
}
