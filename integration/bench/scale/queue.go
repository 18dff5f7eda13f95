package main

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/recipes/locks"
)

// A queue is a lock that is held, and those who wait for it. They go one after the other, each on its signal.
type queue struct {
	client   *framework.Client
	path     string
	mutexes  []*locks.InterProcessMutex // one of each client
	n        int                        // how many wait, or are to wait
	gate     chan struct{}              // closed when all may join
	waiting  sync.WaitGroup
	admitted chan admission
	lease    *locks.Lease // the holder's
}

// An admission is the end of one Acquire.
type admission struct {
	lease *locks.Lease
	at    time.Time
	err   error
}

// newQueue acquires the lock, and makes those who will wait: they are there, and stand at the gate, so that what is
// measured from now on is what the library adds.
func newQueue(ctx context.Context, clients []*framework.Client, path string, n int) (*queue, error) {
	q := &queue{client: clients[0], path: path, n: n, gate: make(chan struct{}), admitted: make(chan admission)}
	var err error
	if q.lease, err = locks.NewInterProcessMutex(q.client, path).Acquire(ctx); err != nil {
		return nil, err
	}
	for _, client := range clients {
		q.mutexes = append(q.mutexes, locks.NewInterProcessMutex(client, path, locks.WithTrace(locks.Trace{Waiting: firstWait})))
	}
	q.waiting.Add(n)
	var ready sync.WaitGroup
	for i := range n {
		ready.Add(1)
		go func() {
			ready.Done()
			<-q.gate
			q.wait(ctx, i, q.waiting.Done)
		}()
	}
	ready.Wait()
	return q, nil
}

type waiterKey struct{}

// firstWait marks the moment from which a waiter stands in the queue: it may begin to wait again, for another.
func firstWait(ctx context.Context, _ locks.Waiting) {
	if joined, ok := ctx.Value(waiterKey{}).(func()); ok {
		joined()
	}
}

// wait is one waiter. joined is called once.
func (q *queue) wait(ctx context.Context, i int, joined func()) {
	joined = sync.OnceFunc(joined)
	defer joined() // also if it fails
	lease, err := q.mutexes[i%len(q.mutexes)].Acquire(context.WithValue(ctx, waiterKey{}, joined))
	select {
	case q.admitted <- admission{lease, time.Now(), err}:
	case <-ctx.Done():
	}
}

// join lets all of them into the queue, at once, and returns how long that took.
func (q *queue) join(ctx context.Context) (time.Duration, error) {
	all := make(chan struct{})
	begun := time.Now()
	close(q.gate)
	go func() {
		q.waiting.Wait()
		close(all)
	}()
	return q.joined(ctx, begun, all)
}

// joinLate has some more join, each when the one before stands in the queue, and returns how long each took.
func (q *queue) joinLate(ctx context.Context, n int) ([]time.Duration, error) {
	var times []time.Duration
	for range n {
		joined := make(chan struct{})
		begun := time.Now()
		go q.wait(ctx, q.n, func() { close(joined) })
		took, err := q.joined(ctx, begun, joined)
		if err != nil {
			return nil, err
		}
		times = append(times, took)
		q.n++
	}
	return times, nil
}

func (q *queue) joined(ctx context.Context, begun time.Time, done <-chan struct{}) (time.Duration, error) {
	select {
	case <-done:
		return time.Since(begun), nil
	case a := <-q.admitted:
		return 0, errors.Join(errors.New("a waiter came back while the lock was held"), a.err)
	case <-ctx.Done():
		return 0, context.Cause(ctx)
	}
}

// complete checks that everybody stands in the queue.
func (q *queue) complete(ctx context.Context) error {
	children, _, err := q.client.Children(ctx, q.path)
	if err == nil && len(children) != q.n+1 {
		err = fmt.Errorf("%d nodes in the queue of one holder and %d waiters", len(children), q.n)
	}
	return err
}

// handOver passes the lock on n times, and returns how long each time took, from the call of Release to the return of
// the next Acquire. The last of all waiters releases the lock at once.
func (q *queue) handOver(ctx context.Context, n int) ([]time.Duration, error) {
	times := make([]time.Duration, 0, n)
	for range n {
		begun, token := time.Now(), q.lease.FencingToken()
		if err := q.lease.Release(); err != nil {
			return nil, err
		}
		var a admission
		select {
		case a = <-q.admitted:
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		}
		switch {
		case a.err != nil:
			return nil, a.err
		case a.at.Before(begun):
			return nil, errors.New("two had the lock at once")
		case a.lease.FencingToken() <= token:
			return nil, fmt.Errorf("out of order: %#x after %#x", a.lease.FencingToken(), token)
		}
		times = append(times, a.at.Sub(begun))
		q.lease = a.lease
		q.n--
	}
	if q.n == 0 && n > 0 {
		return times, q.lease.Release()
	}
	return times, nil
}
