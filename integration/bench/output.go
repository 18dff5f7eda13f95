//go:build linux

package main

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"strings"
	"time"

	"github.com/gocurator/curator/integration/bench/report"
)

// write puts the tables, the figures and the plots into a directory.
func write(results *report.Results, dir string) error {
	text, err := json.MarshalIndent(results, "", " ")
	if err != nil {
		return err
	}
	if err := os.WriteFile(filepath.Join(dir, "results.json"), text, 0o644); err != nil {
		return err
	}
	failed := errors.Join(
		file(filepath.Join(dir, "results.md"), results.Table),
		file(filepath.Join(dir, "summary.md"), results.Summary),
		file(filepath.Join(dir, "targets.txt"), func(w io.Writer) error {
			_, err := results.Check(w)
			return err
		}),
	)
	for name, plot := range results.Plots() {
		failed = errors.Join(failed, file(filepath.Join(dir, name+".svg"), plot))
	}
	return failed
}

func file(name string, write func(io.Writer) error) error {
	f, err := os.Create(name)
	if err != nil {
		return err
	}
	return errors.Join(write(f), f.Close())
}

// conditions notes what figures depend on.
func conditions(ctx context.Context, o options) report.Conditions {
	c := report.Conditions{
		Date: time.Now().UTC().Truncate(time.Second), Rounds: o.rounds, Window: o.window, Cores: runtime.NumCPU(),
		CPU: field("/proc/cpuinfo", "model name"), Kernel: strings.TrimSpace(read("/proc/sys/kernel/osrelease")),
		Versions: map[string]string{"Go": strings.TrimPrefix(runtime.Version(), "go")}, Missing: map[string]string{},
		Limit: o.foreign, Idle: o.idle,
	}
	c.Commit, c.Changed = commit(ctx)
	names := map[string]string{
		"github.com/go-zookeeper/zk": "zk.Lock", "go.etcd.io/etcd/client/v3": "etcd client",
		"github.com/nats-io/nats.go": "nats.go", "github.com/jackc/pgx/v5": "pgx",
		"github.com/go-redsync/redsync/v4": "redsync", "github.com/bsm/redislock": "redislock", "github.com/redis/go-redis/v9": "go-redis",
	}
	if info, ok := debug.ReadBuildInfo(); ok {
		for _, dep := range info.Deps {
			if name := names[dep.Path]; name != "" {
				c.Versions[name] = strings.TrimPrefix(dep.Version, "v")
			}
		}
	}
	return c
}

// commit returns the commit that is checked out, and whether the working tree differs from it. Without git it is empty.
func commit(ctx context.Context) (hash string, changed bool) {
	hash, err := tool("git", "rev-parse", "HEAD").run(ctx)
	if err != nil {
		return "", false
	}
	status, err := tool("git", "status", "--porcelain").run(ctx)
	return hash, err != nil || status != ""
}

func read(name string) string {
	text, _ := os.ReadFile(name) // a condition that cannot be known is empty
	return string(text)
}

func field(name, key string) string {
	for line := range strings.Lines(read(name)) {
		if k, value, ok := strings.Cut(line, ":"); ok && strings.TrimSpace(k) == key {
			return strings.TrimSpace(value)
		}
	}
	return ""
}
