package main

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/gocurator/curator/framework"
)

// Columns of which figures are made.
const (
	joinTime      = "join (µs per waiter)"
	handOverTime  = "hand-over (µs, p50)"
	joinBytes     = "bytes received per join"
	lateTime      = "late join (µs, p50)"
	lateBytes     = "bytes received per late join"
	handOverBytes = "bytes received per hand-over"
)

// waiters measures the queue of one lock: what it costs to join, how long a hand-over takes, and what a waiter has in
// memory.
func waiters(ctx context.Context, l *lab) ([]*table, error) {
	one, err := l.queues(ctx, "waiters", "Waiters on one lock, all of one client", l.upTo(1, 10_000), 1)
	if err != nil {
		return []*table{one}, err
	}
	spread, err := l.queues(ctx, "spread", "Waiters on one lock, spread over up to 50 clients", l.upTo(10, 10_000), 50)
	return []*table{one, spread}, err
}

func (l *lab) queues(ctx context.Context, name, title string, sizes []int, mostClients int) (*table, error) {
	t := &table{Name: name, Title: title, Columns: []string{
		"waiters", "clients", joinTime, lateTime, handOverTime, "hand-over (µs, p99)", joinBytes, lateBytes, handOverBytes,
		"requests per join", "requests per late join", "requests per hand-over", "goroutines per waiter", "heap per waiter (bytes)", "stack per waiter (bytes)",
	}}
	return t, l.onServer(ctx, func(r *rig) error {
		return l.grow(t, sizes, func(n int) (row []number, err error) {
			clients, err := r.open(ctx, min(n, mostClients), r.counted)
			if err != nil {
				return nil, err
			}
			defer func() { err = errors.Join(err, closeAll(clients)) }()
			s, err := r.queue(ctx, clients, n)
			if err != nil {
				return nil, err
			}
			return s.row(n, len(clients)), empty(ctx, clients[0], queuePath(n))
		})
	})
}

// A sample is what the rounds with queues of one length have shown.
type sample struct {
	joins            []number // µs per waiter, of each round
	lates, handOvers []time.Duration
	joined           int
	join, late, hand traffic
	waiterMemory     footprint
}

func (s *sample) row(n, clients int) []number {
	join, late, hand, memory := s.join.per(s.joined), s.late.per(len(s.lates)), s.hand.per(len(s.handOvers)), s.waiterMemory
	if n < 100 { // a few waiters are lost in the noise
		memory.heap, memory.stack = missing, missing
	}
	return []number{
		number(n), number(clients), median(s.joins), micros(s.lates), micros(s.handOvers), percentile99(s.handOvers),
		join.received, late.received, hand.received, join.requests, late.requests, hand.requests, memory.goroutines, memory.heap, memory.stack,
	}
}

// queue has n waiters queue up, again and again until there have been enough hand-overs.
func (r *rig) queue(ctx context.Context, clients []*framework.Client, n int) (*sample, error) {
	const enough = 200
	s := &sample{}
	m, err := r.meter(ctx, clients)
	if err != nil {
		return nil, err
	}
	for len(s.handOvers) < enough {
		if err := m.round(ctx, s, queuePath(n), n); err != nil {
			return nil, err
		}
	}
	return s, nil
}

func queuePath(n int) string { return fmt.Sprintf("/scale/queue-%d", n) }

// round is one queue, from the first who joins to the last who leaves.
func (m *meter) round(ctx context.Context, s *sample, path string, n int) error {
	const mostMeasured, mostLate = 300, 10
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	q, err := newQueue(ctx, m.clients, path, n)
	if err != nil {
		return err
	}
	before := m.rig.footprint()
	join, err := m.during(ctx, func() error {
		took, err := q.join(ctx)
		s.joins = append(s.joins, number(took)/number(time.Microsecond)/number(n))
		return err
	})
	if err != nil {
		return err
	}
	if err := q.complete(ctx); err != nil {
		return err
	}
	s.waiterMemory = m.rig.footprint().per(n, before)
	late, err := m.during(ctx, func() error {
		times, err := q.joinLate(ctx, min(n, mostLate))
		s.lates = append(s.lates, times...)
		return err
	})
	if err != nil {
		return err
	}
	hand, err := m.during(ctx, func() error {
		times, err := q.handOver(ctx, min(n, mostMeasured))
		s.handOvers = append(s.handOvers, times...)
		return err
	})
	if err != nil {
		return err
	}
	s.joined += n
	s.join, s.late, s.hand = s.join.plus(join), s.late.plus(late), s.hand.plus(hand)
	_, err = q.handOver(ctx, q.n)
	return err
}
