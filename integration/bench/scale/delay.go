package main

import (
	"context"
	"errors"
	"fmt"
	"net"
	"slices"
	"strings"
	"time"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/integration/bench/server"
	"github.com/gocurator/curator/recipes/locks"
)

const (
	cycleTrips = "cycle (round trips)"
	twoTrips   = "hand-over, 2 clients (round trips)"
	fourTrips  = "hand-over, 4 clients (round trips)"
)

// delays measures how many times a lock waits for the network: in round trips, each of which is what the fastest read
// takes. Without a delay there is no such thing: what takes the time is the server.
func delays(ctx context.Context, l *lab) ([]*table, error) {
	t := &table{Name: "delay", Title: "Delay of the network; holds of two round trips", Columns: []string{
		"delay each way (ms)", "round trip (µs, least)", "cycle (µs, p50)", cycleTrips,
		"hand-over, 2 clients (µs, p50)", twoTrips, "hand-over, 4 clients (µs, p50)", fourTrips,
	}}
	err := l.onServer(ctx, func(r *rig) error {
		return l.grow(t, []int{0, 1, 2, 5, 10, 20}, func(ms int) ([]number, error) {
			return r.delayed(ctx, time.Duration(ms)*time.Millisecond, l.lasts)
		})
	})
	return []*table{t}, err
}

func (r *rig) delayed(ctx context.Context, delay, lasts time.Duration) (row []number, err error) {
	one, _, _ := strings.Cut(r.address(), ",")
	p, err := server.Delay(one, delay)
	if err != nil {
		return nil, err
	}
	defer p.Close()
	toProxy := func(ctx context.Context, _, _ string) (net.Conn, error) { return connect(ctx, p.Addr) }
	all, err := r.open(ctx, 4, toProxy)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(closeAll(all), err) }()
	trip, err := roundTrip(ctx, all[0], enough(lasts))
	if err != nil {
		return nil, err
	}
	mutex := locks.NewInterProcessMutex(all[0], "/scale/alone")
	if _, err := cycles(ctx, mutex, 5); err != nil {
		return nil, err
	}
	alone, err := cyclesUntil(ctx, mutex, enough(lasts))
	if err != nil {
		return nil, err
	}
	trips := func(times []time.Duration) number {
		if delay == 0 {
			return missing
		}
		return micros(times) / trip
	}
	row = []number{number(delay) / number(time.Millisecond), trip, micros(alone), trips(alone)}
	for _, n := range []int{2, 4} {
		hold := 2 * time.Duration(trip) * time.Microsecond
		c, err := contest(ctx, all[:n], fmt.Sprintf("/scale/among-%d", n), hold, enough(lasts))
		if err != nil {
			return nil, err
		}
		row = append(row, micros(c.handOvers), trips(c.handOvers))
	}
	return row, empty(ctx, all[0], "/scale/alone")
}

// roundTrip is how long a read takes if nothing else is in its way, in µs.
func roundTrip(ctx context.Context, client *framework.Client, over func(time.Time, int) bool) (number, error) {
	var times []time.Duration
	for first := time.Now(); !over(first, len(times)); {
		begun := time.Now()
		if _, err := client.Exists(ctx, "/"); err != nil {
			return 0, err
		}
		times = append(times, time.Since(begun))
	}
	return number(slices.Min(times)) / number(time.Microsecond), nil
}

// enough is the end of what has been done a hundred times, or a few times and long.
func enough(lasts time.Duration) func(time.Time, int) bool {
	return func(begun time.Time, n int) bool { return n >= 100 || n >= 6 && time.Since(begun) > lasts }
}
