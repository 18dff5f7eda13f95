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

// contendersEach is how many clients of a storm want the same lock: one holds it, and the others wait.
const contendersEach = 10

// storms measures what happens when the server of many clients is killed and started again, of an ensemble its leader;
// and when the sessions of all holders end at the same moment.
func storms(ctx context.Context, l *lab) ([]*table, error) {
	t := &table{Name: "storm", Title: fmt.Sprintf("The server is killed and started again; %d clients for each lock", contendersEach), Columns: []string{
		"clients", "down (ms)", "first is back (ms after that)", "last is back", "sessions that ended", "leases that ended",
		"dials per client", "of them refused", "most dials in 100 ms",
		"first second back: requests per client", "bytes sent per client", "bytes received per client",
		"until quiet: requests per client", "bytes received per client", "heap per client (bytes)",
	}}
	dead := &table{Name: "dead-holders", Title: "The sessions of all holders end at once", Columns: []string{
		"clients", "locks", "every lock has its next holder (ms)", "requests per lock", "most requests in 100 ms", "bytes received per lock",
	}}
	err := l.onServer(ctx, func(r *rig) error {
		return l.grow(t, l.sizes(10, 100, 1000, 2500, 5000), func(n int) (row []number, err error) {
			s := &storm{rig: r, n: n, path: fmt.Sprintf("/scale/storm-%d", n)}
			defer func() { err = errors.Join(err, s.Close()) }()
			if err := s.begin(ctx); err != nil {
				return nil, err
			}
			if row, err = s.strike(ctx, l.down, l.lasts); err != nil {
				return nil, err
			}
			deaths, err := s.killHolders(ctx)
			if err != nil {
				return nil, err
			}
			dead.add(deaths...)
			return row, nil
		})
	})
	return []*table{t, dead}, err
}

// A storm is clients of which ten want the same lock.
type storm struct {
	rig     *rig
	n       int
	path    string
	clients []*framework.Client
	memory  footprint
	grants  grants
	stop    context.CancelFunc
	running sync.WaitGroup
}

func (s *storm) locks() int { return (s.n + contendersEach - 1) / contendersEach }

func (s *storm) lockPath(i int) string { return fmt.Sprintf("%s/%05d", s.path, i) }

// begin has all clients contend, and returns when each lock is held and all others wait.
func (s *storm) begin(ctx context.Context) (err error) {
	before := s.rig.footprint()
	if s.clients, err = s.rig.open(ctx, s.n, s.rig.counted); err != nil {
		return err
	}
	ctx, s.stop = context.WithCancel(ctx)
	s.grants.init(s.locks())
	for i, client := range s.clients {
		waiting := make(chan struct{})
		joined := sync.OnceFunc(func() { close(waiting) })
		s.running.Go(func() { s.contend(ctx, i%s.locks(), client, joined) })
		if i%atOnce == atOnce-1 || i == len(s.clients)-1 {
			select {
			case <-waiting:
			case <-ctx.Done():
				return context.Cause(ctx)
			}
		}
	}
	if err := s.settle(ctx); err != nil {
		return err
	}
	s.memory = s.rig.footprint().per(s.n, before)
	return nil
}

// contend holds a lock, or waits for it, until the storm is over.
func (s *storm) contend(ctx context.Context, lock int, client *framework.Client, joined func()) {
	trace := locks.WithTrace(locks.Trace{Waiting: func(context.Context, locks.Waiting) { joined() }})
	mutex := locks.NewInterProcessMutex(client, s.lockPath(lock), trace)
	for ctx.Err() == nil {
		lease, err := mutex.Acquire(ctx)
		joined()
		if err != nil { // its session has ended while it waited, for one
			continue
		}
		s.grants.granted(lock, lease)
		select {
		case <-lease.Done():
			s.grants.ended(lock, lease)
		case <-ctx.Done():
		}
		_ = lease.Release() // it may have been lost
	}
}

// settle waits until the queue of each lock has all its contenders, and the first of them has the lease.
func (s *storm) settle(ctx context.Context) error {
	return s.eventually(ctx, func(ctx context.Context, lock int) error {
		return s.whole(ctx, lock)
	})
}

// eventually waits until something is right for each lock.
func (s *storm) eventually(ctx context.Context, right func(ctx context.Context, lock int) error) error {
	limit := time.Now().Add(3 * time.Minute)
	return each(ctx, s.locks(), func(ctx context.Context, lock int) error {
		for {
			err := right(ctx, lock)
			if err == nil || time.Now().After(limit) || ctx.Err() != nil {
				return err
			}
			if err := pause(ctx, 50*time.Millisecond); err != nil {
				return err
			}
		}
	})
}

// whole checks one lock: as many nodes as contenders, and one lease, which is that of the first node.
func (s *storm) whole(ctx context.Context, lock int) error {
	nodes, _, err := s.clients[lock].Children(ctx, s.lockPath(lock))
	if err != nil {
		return err
	}
	want := 0
	for i := lock; i < s.n; i += s.locks() {
		want++
	}
	if len(nodes) != want {
		return fmt.Errorf("%d nodes of %d contenders in %s", len(nodes), want, s.lockPath(lock))
	}
	return s.grants.heldBy(lock, firstInLine(nodes))
}

// Close ends the contenders, and then their clients.
func (s *storm) Close() error {
	if s.stop != nil {
		s.stop()
	}
	s.running.Wait()
	return closeAll(s.clients)
}
