package main

import (
	"context"
	"runtime"
	"slices"
	"time"

	"github.com/gocurator/curator/framework"
)

// traffic is between clients and the server.
type traffic struct{ requests, received number }

func (t traffic) minus(u traffic) traffic {
	return traffic{t.requests - u.requests, t.received - u.received}
}

func (t traffic) plus(u traffic) traffic {
	return traffic{t.requests + u.requests, t.received + u.received}
}

func (t traffic) per(n int) traffic {
	return traffic{t.requests / number(n), t.received / number(n)}
}

// A meter measures the traffic of some clients, lap by lap, without what the meter itself asks.
type meter struct {
	rig     *rig
	clients []*framework.Client
	last    traffic
	own     traffic
}

func (r *rig) meter(ctx context.Context, clients []*framework.Client) (*meter, error) {
	m := &meter{rig: r, clients: clients}
	if _, err := m.lap(ctx); err != nil {
		return nil, err
	}
	own, err := m.lap(ctx) // nothing else has happened meanwhile
	m.own = own
	return m, err
}

// lap returns the traffic since the lap before. What was asked for has been answered then, since it is answered in
// order.
func (m *meter) lap(ctx context.Context) (traffic, error) {
	err := each(ctx, len(m.clients), func(ctx context.Context, i int) error {
		_, err := m.clients[i].Exists(ctx, "/")
		return err
	})
	if err != nil {
		return traffic{}, err
	}
	requests, err := m.rig.requests()
	if err != nil {
		return traffic{}, err
	}
	now := traffic{number(requests), number(m.rig.wire.received.Load())}
	lap := now.minus(m.last).minus(m.own)
	m.last = now
	return lap, nil
}

// during is the traffic of what is done.
func (m *meter) during(ctx context.Context, do func() error) (traffic, error) {
	if _, err := m.lap(ctx); err != nil {
		return traffic{}, err
	}
	if err := do(); err != nil {
		return traffic{}, err
	}
	return m.lap(ctx)
}

// footprint is what this process has in memory.
type footprint struct{ heap, stack, goroutines number }

// footprint is missing if the server is in this process as well.
func (r *rig) footprint() footprint {
	if !r.apart() {
		return footprint{missing, missing, missing}
	}
	for range 2 { // what a pool holds goes with the second
		runtime.GC()
	}
	var stats runtime.MemStats
	runtime.ReadMemStats(&stats)
	return footprint{number(stats.HeapAlloc), number(stats.StackInuse), number(runtime.NumGoroutine())}
}

// per is what each of n has added since.
func (f footprint) per(n int, since footprint) footprint {
	return footprint{
		(f.heap - since.heap) / number(n), (f.stack - since.stack) / number(n), (f.goroutines - since.goroutines) / number(n),
	}
}

// median is the middle one, or missing.
func median[T ~int64 | ~float64](values []T) number {
	if len(values) == 0 {
		return missing
	}
	values = slices.Sorted(slices.Values(values))
	return number(values[len(values)/2])
}

// micros is the median of durations.
func micros(durations []time.Duration) number {
	return median(durations) / number(time.Microsecond)
}

// percentile99 is what one in a hundred exceeds.
func percentile99(durations []time.Duration) number {
	if len(durations) == 0 {
		return missing
	}
	sorted := slices.Sorted(slices.Values(durations))
	return number(sorted[len(sorted)*99/100]) / number(time.Microsecond)
}
