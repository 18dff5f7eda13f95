//go:build unix

package main

import (
	"context"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/integration/zookeeper"
)

// pipelined is how many writes each writing client has under way.
const pipelined = 128

// writers are what makes the ensemble busy: a client at each server.
type writers struct {
	clients []*framework.Client
}

func newWriters(e *zookeeper.Ensemble) (*writers, error) {
	w := &writers{}
	for i, m := range e.Members() {
		client, err := framework.NewClient(m.Server.Addr(), framework.WithConnectionTimeout(time.Minute))
		if err != nil {
			w.close()
			return nil, err
		}
		w.clients = append(w.clients, client)
		ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
		_, _, err = client.Create(ctx, fmt.Sprintf("/written-%d", i), nil)
		cancel()
		if err != nil {
			w.close()
			return nil, err
		}
	}
	return w, nil
}

// keepBusy writes for as long, and says how many writes a second were answered.
func (w *writers) keepBusy(ctx context.Context, window time.Duration) float64 {
	ctx, cancel := context.WithTimeout(ctx, window)
	defer cancel()
	data := make([]byte, 100)
	begun := time.Now()
	var done atomic.Int64
	var all sync.WaitGroup
	for i, client := range w.clients {
		for range pipelined {
			all.Go(func() {
				for ctx.Err() == nil {
					if _, err := client.Set(ctx, fmt.Sprintf("/written-%d", i), data, -1); err == nil {
						done.Add(1)
					}
				}
			})
		}
	}
	all.Wait()
	return float64(done.Load()) / time.Since(begun).Seconds()
}

func (w *writers) close() {
	for _, client := range w.clients {
		_ = client.Close()
	}
}

// newest is the counter of the newest transaction: everything that a majority has written down, renewals included.
func newest(e *zookeeper.Ensemble) int64 {
	for line := range strings.Lines(e.Leader().FourLetter("srvr")) {
		if zxid, ok := strings.CutPrefix(line, "Zxid: 0x"); ok {
			n, _ := strconv.ParseInt(strings.TrimSpace(zxid), 16, 64)
			return n & (1<<32 - 1)
		}
	}
	return 0
}

// timeFsync is how long the place takes to put a small record down for good: the median of many.
func timeFsync(dir string) (time.Duration, error) {
	f, err := os.CreateTemp(dir, "fsync-")
	if err != nil {
		return 0, err
	}
	defer f.Close()
	var took []float64
	for range 200 {
		begun := time.Now()
		if _, err := f.Write(make([]byte, 100)); err != nil {
			return 0, err
		}
		if err := f.Sync(); err != nil {
			return 0, err
		}
		took = append(took, float64(time.Since(begun)))
	}
	return time.Duration(median(took)), nil
}

// A result is what was measured, by who holds.
type result struct {
	rows  map[string]*row
	fsync time.Duration
}

type row struct {
	renewals, writes []float64 // a second
	lost             int
}

func (r *result) row(name string) *row {
	if r.rows[name] == nil {
		r.rows[name] = &row{}
	}
	return r.rows[name]
}

// String is the table. A share is a part of the writes that the ensemble can do while no client holds a lock.
func (r *result) String() string {
	var b strings.Builder
	all := median(r.rows[noHolder].writes)
	fmt.Fprintf(&b, "%-24s %-26s %-10s %-30s %-10s %s\n", "", "transactions/s, no writers", "share", "writes/s, as busy as can be", "fewer by", "leases lost")
	for _, name := range []string{noHolder, byLeader, byQuorum} {
		row := r.rows[name]
		renewals, writes := median(row.renewals), median(row.writes)
		fmt.Fprintf(&b, "%-24s %-26s %-10s %-30s %-10s %d\n", name, spread(row.renewals), percent(renewals/all),
			spread(row.writes), percent(1-writes/all), row.lost)
	}
	return b.String()
}

// median is 0 of nothing.
func median(all []float64) float64 {
	if len(all) == 0 {
		return 0
	}
	return slices.Sorted(slices.Values(all))[len(all)/2]
}

func spread(all []float64) string {
	if len(all) == 0 {
		return "-"
	}
	return fmt.Sprintf("%.0f [%.0f .. %.0f]", median(all), slices.Min(all), slices.Max(all))
}

func percent(f float64) string { return fmt.Sprintf("%.1f %%", 100*f) }
