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

// A queue is a lock that is held, and those who wait for it. They go one after the other, each when it is told to.
type queue struct {
	client   *framework.Client
	path     string
	n        int
	gate     chan struct{} // closed when all may join
	waiting  sync.WaitGroup
	admitted chan admission
	lease    *locks.Lease // of whoever has the lock
}

// An admission is the end of one Acquire.
type admission struct {
	lease *locks.Lease
	at    time.Time
	err   error
}

// newQueue acquires the lock, and makes those who will wait: they are there, and stand at the gate, so that what is measured
// from now on is what the library adds.
func newQueue(ctx context.Context, clients []*framework.Client, path string, n int) (*queue, error) {
	q := &queue{client: clients[0], path: path, n: n, gate: make(chan struct{}), admitted: make(chan admission)}
	var err error
	if q.lease, err = locks.NewInterProcessMutex(q.client, path).Acquire(ctx); err != nil {
		return nil, err
	}
	mutexes := make([]*locks.InterProcessMutex, len(clients))
	for i, client := range clients {
		mutexes[i] = locks.NewInterProcessMutex(client, path, locks.WithTrace(locks.Trace{Waiting: firstWait}))
	}
	q.waiting.Add(n)
	var ready sync.WaitGroup
	for i := range n {
		ready.Add(1)
		go q.wait(ctx, mutexes[i%len(mutexes)], ready.Done)
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

// wait is one waiter.
func (q *queue) wait(ctx context.Context, mutex *locks.InterProcessMutex, ready func()) {
	joined := sync.OnceFunc(q.waiting.Done)
	defer joined() // also if it fails
	ctx = context.WithValue(ctx, waiterKey{}, joined)
	ready()
	<-q.gate
	lease, err := mutex.Acquire(ctx)
	select {
	case q.admitted <- admission{lease, time.Now(), err}:
	case <-ctx.Done():
	}
}

// join lets all of them into the queue and tells how long it took.
func (q *queue) join(ctx context.Context) (time.Duration, error) {
	all := make(chan struct{})
	begun := time.Now()
	close(q.gate)
	go func() {
		q.waiting.Wait()
		close(all)
	}()
	select {
	case <-all:
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

// handOver passes the lock on n times, and tells how long it took each time, from the call of Release to the return of the
// next Acquire. The last of all waiters releases the lock at once.
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
