package caches

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"time"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/integration/bench/job"
	"github.com/gocurator/curator/integration/bench/server"
)

// Beside has one cache of any language fill with a tree on a real server, and then changes nodes of it. command starts
// the process that has the cache, and dir is where its log goes.
func Beside(ctx context.Context, client *framework.Client, j job.CacheJob, tree []string, changes int, dir string, command []string) (Figures, error) {
	f := Figures{Memory: -1}
	ctx, cancel := context.WithTimeout(ctx, 2*patience)
	defer cancel()
	p, err := server.Start(filepath.Join(dir, "cache.log"), true, command[0], command[1:]...)
	if err != nil {
		return f, err
	}
	defer p.Kill()
	defer context.AfterFunc(ctx, p.Kill)() // an answer that is awaited is then the end of the file
	orders, answers := json.NewEncoder(p.Stdin), json.NewDecoder(p.Stdout)
	said := func(err error) error {
		return errors.Join(context.Cause(ctx), fmt.Errorf("the process with the cache: %w; it ends with:\n%s", err, p.Log()))
	}

	if err := orders.Encode(j); err != nil {
		return f, said(err)
	}
	var full job.CacheFull
	if err := answers.Decode(&full); err != nil {
		return f, said(err)
	}
	switch {
	case full.Error != "":
		return f, errors.New(full.Error)
	case full.Nodes != len(tree):
		return f, fmt.Errorf("the cache has %d nodes, not %d", full.Nodes, len(tree))
	case len(full.Took) != j.Fills:
		return f, fmt.Errorf("the cache was filled %d times, not %d", len(full.Took), j.Fills)
	}
	f.Full = time.Duration(full.Took[0])
	if j.Fills > 1 {
		f.Again = time.Duration(full.Took[j.Fills-1])
	}
	if len(tree) >= leastForMemory {
		f.Memory = float64(full.Memory) / float64(len(tree))
	}

	warmUp := changes / 3 // do not count: a JVM has to compile what handles them
	stamps, err := changeSome(ctx, warmUp+changes, job.NewClock(), func(stamp int64) error {
		_, err := client.Set(ctx, tree[rand.IntN(len(tree))], job.Stamp(stamp), -1)
		return err
	})
	if err != nil {
		return f, err
	}
	if err := orders.Encode(job.CacheEnd{Last: stamps[len(stamps)-1]}); err != nil {
		return f, said(err)
	}
	var events job.CacheEvents
	if err := answers.Decode(&events); err != nil {
		return f, said(err)
	}
	if events.Error != "" {
		return f, errors.New(events.Error)
	}
	at := make(map[int64]int64)
	for i, stamp := range events.Stamps {
		at[stamp] = events.Heard[i]
	}
	f.Events, f.Missed = latencies(stamps[warmUp:], at)
	_ = p.Stdin.Close() // fails only if it is closed
	select {
	case <-p.Exited(): // so no server ends its session while the next is measured
	case <-ctx.Done():
	}
	return f, nil
}

// leastForMemory is how many nodes a tree must have so that its memory is not lost in the noise.
const leastForMemory = 100
