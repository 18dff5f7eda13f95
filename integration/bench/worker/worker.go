// Package worker is the process that takes locks with a client in Go. Bench.java and bench.py are the same for theirs.
package worker

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"time"

	"github.com/gocurator/curator/integration/bench/job"
)

// A client takes locks; it is one connection to the servers, or what its library has in place of one.
type client interface {
	// lock prepares a worker's use of a lock.
	lock(ctx context.Context, kind, path string, limit int) (pair, error)
	close()
}

// An acquire waits for a lock and returns what releases it.
type acquire func(ctx context.Context) (release func(ctx context.Context) error, err error)

// A pair is the two sides of a read/write lock. Other locks have one side.
type pair struct{ read, write acquire }

func one(a acquire) pair { return pair{a, a} }

// Main does the job that comes on in, and answers on out.
func Main(ctx context.Context, in io.Reader, out io.Writer) error {
	orders, answers := json.NewDecoder(bufio.NewReader(in)), json.NewEncoder(out)
	var j job.Job
	if err := orders.Decode(&j); err != nil {
		return fmt.Errorf("reading the job: %w", err)
	}
	t := &team{job: j, clock: job.NewClock()}
	workers, err := t.hire(ctx)
	if err != nil {
		return answers.Encode(job.Ready{Error: err.Error()})
	}
	defer t.close()

	var group sync.WaitGroup
	for _, w := range workers {
		group.Go(func() { w.work(ctx) })
	}
	time.Sleep(j.Warmup)
	if err := answers.Encode(job.Ready{Ready: true}); err != nil {
		return err
	}
	var window job.Window
	if err := orders.Decode(&window); err != nil {
		return fmt.Errorf("reading the window: %w", err)
	}
	t.window.Store(&window)
	answer := job.Answer{Late: t.clock.Now() >= window.Start}
	group.Wait()
	for _, w := range workers {
		answer.Workers = append(answer.Workers, w.did)
	}
	if err := answers.Encode(answer); err != nil {
		return err
	}
	_, err = io.Copy(io.Discard, in) // the times of the process are read until its input ends
	return err
}

// A team is the workers of one process.
type team struct {
	job     job.Job
	clock   job.Clock
	clients []client
	window  atomic.Pointer[job.Window] // nil while they warm up
}

func (t *team) hire(ctx context.Context) ([]*worker, error) {
	dial := dialers[t.job.Impl]
	if dial == nil {
		return nil, fmt.Errorf("unknown client %q", t.job.Impl)
	}
	var workers []*worker
	for i := range t.job.Workers {
		if i == 0 || t.job.Clients {
			c, err := dial(ctx, t.job)
			if err != nil {
				return nil, err
			}
			t.clients = append(t.clients, c)
		}
		number := t.job.First + i
		path := t.job.Path
		if t.job.Own {
			path = fmt.Sprintf("%s/%d", path, number)
		}
		lock, err := t.clients[len(t.clients)-1].lock(ctx, t.job.Lock, path, t.job.Limit)
		if err != nil {
			return nil, err
		}
		workers = append(workers, &worker{
			team: t, lock: lock, rand: rand.New(rand.NewPCG(uint64(number), 0)), did: job.Worker{Number: number},
		})
	}
	return workers, nil
}

func (t *team) close() {
	for _, c := range t.clients {
		c.close()
	}
}
