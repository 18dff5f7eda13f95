package main

import (
	"context"
	"fmt"
	"sync/atomic"
	"time"

	"github.com/gocurator/curator/framework"
)

// An outage is what the clients' listeners hear of one.
type outage struct {
	back    atomic.Int64
	ended   atomic.Int64 // sessions
	all     chan struct{}
	first   chan struct{}
	last    atomic.Pointer[time.Time] // set before all is closed
	clients int64
}

// listen hears of a client until stop is called.
func (o *outage) listen(client *framework.Client) (stop func()) {
	var was, reconnected bool // without a connection; calls come one at a time, the first with the present state
	return client.OnStateChange(func(c framework.StateChange) {
		if c.State == framework.StateLost {
			o.ended.Add(1)
		}
		switch {
		case !c.State.IsConnected():
			was = true
		case was && !reconnected:
			reconnected = true
			back, now := o.back.Add(1), time.Now()
			if back == 1 {
				close(o.first)
			}
			if back == o.clients {
				o.last.Store(&now)
				close(o.all)
			}
		}
	})
}

func await(ctx context.Context, o *outage, done <-chan struct{}) error {
	select {
	case <-done:
		return nil
	case <-time.After(5 * time.Minute):
		return fmt.Errorf("only %d of %d clients have come back after five minutes", o.back.Load(), o.clients)
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// strike kills the server, and starts it again after a while. Then every client must be back, and every lock have one
// holder, the first in its queue, and all who waited.
func (s *storm) strike(ctx context.Context, down, lasts time.Duration) ([]number, error) {
	r, n := s.rig, number(s.n)
	o := &outage{all: make(chan struct{}), first: make(chan struct{}), clients: int64(s.n)}
	stops := make([]func(), 0, s.n)
	for _, client := range s.clients {
		stops = append(stops, o.listen(client))
	}
	defer func() {
		for _, stop := range stops {
			stop()
		}
	}()
	lostBefore, before, dials := s.grants.lostSoFar(), r.wire.now(), r.peakOf(ctx, func(c count) number { return c.dials })
	begun := time.Now()
	revive, err := r.crash(ctx)
	if err != nil {
		return nil, err
	}
	if err := pause(ctx, down); err != nil {
		return nil, err
	}
	if err := revive(); err != nil {
		return nil, err
	}
	serves := time.Now()
	if err := await(ctx, o, o.first); err != nil {
		return nil, err
	}
	first, wire := time.Since(serves), r.wire.now()
	if err := pause(ctx, min(lasts, time.Second)); err != nil {
		return nil, err
	}
	second := r.wire.now().minus(wire)
	if err := await(ctx, o, o.all); err != nil {
		return nil, err
	}
	last := o.last.Load().Sub(serves)
	if err := s.settle(ctx); err != nil {
		return nil, err
	}
	if err := pause(ctx, lasts); err != nil {
		return nil, err
	}
	all := r.wire.now().minus(before)
	return []number{
		n, millis(serves.Sub(begun)), millis(first), millis(last), number(o.ended.Load()), number(s.grants.lostSoFar() - lostBefore),
		all.dials / n, all.refused / n, dials(), second.requests / n, second.sent / n, second.received / n,
		all.requests / n, all.received / n, s.memory.heap,
	}, nil
}

// killHolders ends the session of each lock's holder, all at once, and waits until each lock has another one. The
// servers end a session without its client here, as an administrator does, so that for a moment both have leases.
func (s *storm) killHolders(ctx context.Context) ([]number, error) {
	r := s.rig
	if s.n < 2*s.locks() { // some locks have no second contender
		return []number{number(s.n), number(s.locks()), missing, missing, missing, missing}, nil
	}
	had := make([]int, s.locks())
	ids := make([]int64, s.locks())
	for lock := range ids {
		had[lock] = s.grants.count(lock)
		id, err := s.grants.owner(ctx, lock, s.clients[lock], s.lockPath(lock))
		if err != nil {
			return nil, err
		}
		ids[lock] = id
	}
	wire, peak, begun := r.wire.now(), r.peakOf(ctx, func(c count) number { return c.requests }), time.Now()
	s.grants.allowOverlap()
	if err := r.expireAll(ctx, ids); err != nil {
		return nil, err
	}
	err := s.eventually(ctx, func(_ context.Context, lock int) error {
		if s.grants.count(lock) <= had[lock] {
			return fmt.Errorf("lock %d has no new holder after the session of the last one has ended", lock)
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	took, lap, all := time.Since(begun), r.wire.now().minus(wire), number(s.locks())
	return []number{number(s.n), all, millis(took), lap.requests / all, peak(), lap.received / all}, nil
}
