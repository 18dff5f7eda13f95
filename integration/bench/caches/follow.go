package caches

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/integration/bench/job"
	"github.com/gocurator/curator/recipes/cache"
)

// Follow does the job that comes on in with this library's cache, and answers on out. CacheBench.java and cache.py are
// the same for theirs.
func Follow(ctx context.Context, in io.Reader, out io.Writer) error {
	orders, answers := json.NewDecoder(bufio.NewReader(in)), json.NewEncoder(out)
	var j job.CacheJob
	if err := orders.Decode(&j); err != nil {
		return fmt.Errorf("reading the job: %w", err)
	}
	var full job.CacheFull
	var f *follower
	for range j.Fills {
		if f != nil {
			f.close()
			f = nil //nolint:wastedassign // the collector takes it before the heap is measured
		}
		before := heap()
		var took time.Duration
		var err error
		if f, took, err = follow(ctx, j); err != nil {
			return answers.Encode(job.CacheFull{Error: err.Error()})
		}
		full.Took = append(full.Took, int64(took))
		full.Memory = heap() - before
	}
	defer f.close()
	full.Nodes = f.cache.Len()
	if err := answers.Encode(full); err != nil {
		return err
	}
	var end job.CacheEnd
	if err := orders.Decode(&end); err != nil {
		return fmt.Errorf("reading the end: %w", err)
	}
	events, err := f.wait(ctx, end.Last)
	if err != nil {
		events.Error = err.Error()
	}
	return answers.Encode(events)
}

// A follower is one cache with a client of its own, and a listener.
type follower struct {
	client *framework.Client
	cache  *cache.CuratorCache
	clock  job.Clock
	full   chan struct{} // closed at the first Synced

	mu     sync.Mutex
	synced bool
	events job.CacheEvents
	news   chan struct{}
}

// follow fills a cache, and returns how long that took until its listener heard of it.
func follow(ctx context.Context, j job.CacheJob) (*follower, time.Duration, error) {
	client, err := framework.NewClient(j.Server, framework.WithSessionTimeout(j.Session), framework.WithLogger(Silent()))
	if err != nil {
		return nil, 0, err
	}
	f := &follower{
		client: client, cache: cache.NewCuratorCache(client, j.Path), clock: job.NewClock(), full: make(chan struct{}),
		news: make(chan struct{}, 1),
	}
	if err := client.BlockUntilConnected(ctx); err != nil {
		f.close()
		return nil, 0, err
	}
	f.cache.OnEvent(f.hear)
	begun := time.Now()
	if err := f.cache.Start(ctx); err != nil {
		f.close()
		return nil, 0, err
	}
	select {
	case <-f.full:
		return f, time.Since(begun), nil
	case <-ctx.Done():
		f.close()
		return nil, 0, context.Cause(ctx)
	}
}

func (f *follower) hear(e cache.Event) {
	now := f.clock.Now()
	f.mu.Lock()
	defer f.mu.Unlock()
	switch {
	case e.Kind == cache.Synced && !f.synced:
		f.synced = true
		close(f.full)
	case e.Kind == cache.Changed:
		at, err := stampOf(e.New.Data)
		if err != nil {
			f.events.Error = err.Error()
		}
		f.events.Stamps, f.events.Heard = append(f.events.Stamps, at), append(f.events.Heard, now)
		select {
		case f.news <- struct{}{}:
		default:
		}
	}
}

func stampOf(data []byte) (int64, error) {
	return strconv.ParseInt(strings.TrimSpace(string(data)), 10, 64)
}

// patience is how long an event may take.
const patience = 3 * time.Minute

// wait returns the events once the one of the last change has come.
func (f *follower) wait(ctx context.Context, last int64) (job.CacheEvents, error) {
	ctx, cancel := context.WithTimeoutCause(ctx, patience, errors.New("no event of the last change"))
	defer cancel()
	for {
		f.mu.Lock()
		events := f.events
		f.mu.Unlock()
		if n := len(events.Stamps); n > 0 && events.Stamps[n-1] == last {
			return events, nil
		}
		select {
		case <-f.news:
		case <-ctx.Done():
			return events, context.Cause(ctx)
		}
	}
}

func (f *follower) close() {
	_ = f.cache.Close()  // fails if it was never started
	_ = f.client.Close() // the session is over either way, at the latest when it expires
}

// Silent is the logger of a client whose warnings are not looked at.
func Silent() *slog.Logger { return slog.New(slog.NewTextHandler(io.Discard, nil)) }

// heap returns the bytes in use after a collection.
func heap() int64 {
	for range 2 { // what a pool holds goes with the second
		runtime.GC()
	}
	var stats runtime.MemStats
	runtime.ReadMemStats(&stats)
	return int64(stats.HeapAlloc)
}
