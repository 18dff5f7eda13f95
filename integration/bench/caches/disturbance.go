package caches

import (
	"context"
	"errors"
	"fmt"
	"net"
	"slices"
	"sync"
	"time"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/framework/session"
	"github.com/gocurator/curator/recipes/cache"
	"github.com/gocurator/curator/recipes/locks"
)

// A Disturbance says what happened to a lease of a client at a time.
type Disturbance struct {
	Phase    string
	Took     time.Duration // the longest reading of all trees; 0 without caches
	Left     time.Duration // the least time that the lease had left
	Reads    int           // most under way
	Lost     int           // how often the client had no connection, but for the cuts
	Renewals []time.Duration
}

// The phases of a disturbance.
const (
	Quiet        = "no caches"
	Filling      = "caches fill"
	ReadingAgain = "caches read again"
)

// A Site is a server that has the trees of the caches.
type Site struct {
	Dial  func(ctx context.Context, network, address string) (net.Conn, error)
	Plant func(paths []string) error // makes nodes, each after its parent
}

// A Trial is how a lease is disturbed.
type Trial struct {
	Size

	Timeout time.Duration // the session's
	Quiet   time.Duration // how long the lease is looked at without caches
	Cuts    int
}

// betweenCuts is the time from when all is as before to the next cut.
const betweenCuts = 500 * time.Millisecond

// Disturb holds a lock while the caches of the same client fill, and while they read again after each of some cuts of
// the connection. Before that it cuts the connection as often without caches, for comparison.
//
// It does so twice. First the client has nothing but its renewals, about one in a second: that shows how little time
// the lease has left. Then it sends transactions like a renewal, which change nothing, one after the other: that shows
// how long the answer to a renewal takes, often enough for a percentile, and keeps the lease fresher than it would be.
func Disturb(ctx context.Context, site Site, trial Trial) ([]Disturbance, error) {
	if _, err := plantMany(trial.Size, site.Plant); err != nil {
		return nil, err
	}
	phases, err := disturb(ctx, site, trial, false)
	if err != nil {
		return nil, err
	}
	probed, err := disturb(ctx, site, trial, true)
	if err != nil {
		return nil, err
	}
	for i, p := range probed {
		phases[i].Renewals = p.Renewals
		phases[i].Lost += p.Lost
		phases[i].Reads, phases[i].Took = max(phases[i].Reads, p.Reads), max(phases[i].Took, p.Took)
	}
	return phases, nil
}

// disturb is one of the two runs, with a client of its own.
func disturb(ctx context.Context, site Site, trial Trial, probe bool) (phases []Disturbance, err error) {
	wire := NewWire(site.Dial)
	client, err := framework.NewClient("any:2181", framework.WithDialer(wire.DialContext),
		framework.WithSessionTimeout(trial.Timeout), framework.WithLogger(Silent()))
	if err != nil {
		return nil, err
	}
	defer func() { _ = client.Close() }()
	lease, err := locks.NewInterProcessMutex(client, "/held").Acquire(ctx)
	if err != nil {
		return nil, err
	}
	w := watch(ctx, wire, client, lease, probe)
	defer func() { err = errors.Join(err, w.end(), lease.Release()) }()

	cut := func(again func() error) (longest time.Duration, err error) {
		for range trial.Cuts {
			begun := time.Now()
			w.cut()
			if err := again(); err != nil {
				return 0, err
			}
			longest = max(longest, time.Since(begun))
			time.Sleep(betweenCuts)
		}
		return longest, nil
	}
	time.Sleep(trial.Quiet)
	if _, err := cut(func() error { return client.Sync(ctx, "/") }); err != nil {
		return nil, err
	}
	phases = append(phases, w.phase(Quiet, 0))

	begun := time.Now()
	all, err := startAll(ctx, client, trial.Size, func(*cache.CuratorCache) {})
	defer closeAll(all)
	if err != nil {
		return nil, err
	}
	phases = append(phases, w.phase(Filling, time.Since(begun)))

	readings := 0
	longest, err := cut(func() error {
		readings++
		return readAgain(ctx, all, readings)
	})
	if err != nil {
		return nil, err
	}
	return append(phases, w.phase(ReadingAgain, longest)), nil
}

// A watcher looks at a lease all the time.
type watcher struct {
	wire   *Wire
	client *framework.Client
	lease  *locks.Lease
	stop   context.CancelFunc
	done   sync.WaitGroup

	mu        sync.Mutex
	left      time.Duration
	suspended int             // less the cuts
	took      []time.Duration // by probes
	error     error
}

const longAgo = time.Hour // more than any lease has left

func watch(ctx context.Context, wire *Wire, client *framework.Client, lease *locks.Lease, probe bool) *watcher {
	ctx, stop := context.WithCancel(ctx)
	w := &watcher{wire: wire, client: client, lease: lease, stop: stop, left: longAgo}
	wire.Lap()
	client.OnStateChange(func(c framework.StateChange) {
		if c.State == framework.StateSuspended {
			w.note(1)
		}
	})
	w.done.Go(func() { w.look(ctx) })
	if probe {
		w.done.Go(func() { w.probe(ctx) })
	}
	return w
}

// cut cuts the connection, of which the client hears a moment later.
func (w *watcher) cut() {
	w.note(-1)
	w.wire.Cut()
}

func (w *watcher) note(suspended int) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.suspended += suspended
}

// look notes the least time that the lease has left.
func (w *watcher) look(ctx context.Context) {
	for ctx.Err() == nil {
		w.mu.Lock()
		w.lookLocked()
		w.mu.Unlock()
		time.Sleep(time.Millisecond)
	}
}

func (w *watcher) lookLocked() {
	w.left = min(w.left, time.Until(w.lease.ValidUntil()))
	if err := w.lease.Err(); err != nil && w.error == nil {
		w.error = fmt.Errorf("the lease ended: %w", err)
	}
}

// probe sends what a renewal is to a server: a transaction that changes nothing. One that the cut of a connection has
// met does not count: it took until there was another connection. Nor does one whose connection is lost, see
// Disturbance.Lost.
func (w *watcher) probe(ctx context.Context) {
	const apart = 5 * time.Millisecond
	for ctx.Err() == nil {
		before, begun := w.wire.Changes(), time.Now()
		_, err := w.client.Transaction(ctx, framework.CheckOp("/", -1))
		took := time.Since(begun)
		w.mu.Lock()
		switch {
		case ctx.Err() != nil || before != w.wire.Changes() || errors.Is(err, session.ErrConnectionLost):
		case err != nil && w.error == nil:
			w.error = err
		case err == nil:
			w.took = append(w.took, took)
		}
		w.mu.Unlock()
		time.Sleep(apart)
	}
}

// phase returns what happened since the last one.
func (w *watcher) phase(name string, took time.Duration) Disturbance {
	lap := w.wire.Lap()
	w.mu.Lock()
	defer w.mu.Unlock()
	w.lookLocked() // a phase may be short
	d := Disturbance{Phase: name, Took: took, Left: w.left, Reads: lap.Reads, Lost: w.suspended, Renewals: slices.Clone(w.took)}
	if len(w.took) == 0 { // without probes
		d.Renewals = lap.Renewals
	}
	w.left, w.took, w.suspended = longAgo, nil, 0
	return d
}

func (w *watcher) end() error {
	w.stop()
	w.done.Wait()
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.error
}
