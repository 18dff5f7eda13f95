//go:build linux

package main

import (
	"context"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/gocurator/curator/integration/bench/caches"
	"github.com/gocurator/curator/integration/bench/plan"
	"github.com/gocurator/curator/integration/bench/report"
	"github.com/gocurator/curator/integration/bench/server"
	"github.com/gocurator/curator/integration/bench/worker"
)

// TestMain lets the benchmark start the test's program as a worker.
func TestMain(m *testing.M) {
	workers := map[string]func(context.Context, io.Reader, io.Writer) error{lockWorker: worker.Main, cacheWorker: caches.Follow}
	if len(os.Args) > 1 && workers[os.Args[1]] != nil {
		if err := workers[os.Args[1]](context.Background(), os.Stdin, os.Stdout); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		return
	}
	os.Exit(m.Run())
}

// Everything runs once, for a moment: the figures mean nothing, but they are there, and no two holds overlap.
func TestSmoke(t *testing.T) {
	smoke(t, "### Mutexes, 1ms away: acquisitions a second\n",
		"-impls", "go-curator,java-curator,zk.Lock,kazoo,raw", "-workloads", "uncontended,mp4,rw", "-delays", "0s,1ms")
}

// A node that stays idle for 10 ms has workers that think for up to 200 ms.
func TestSmokeOfRetainedLocks(t *testing.T) {
	smoke(t, "| 16 processes, pauses from none to 10 idle times, 1ms away |", "-workloads", "mp16-graded10", "-delays", "1ms", "-idle", "10ms")
}

// Other servers are measured if they are installed, or have been built: CI need not have them. Under contention some of
// these locks let a worker in after seconds alone, which is for a run of the benchmark to show.
func TestSmokeOfPeers(t *testing.T) {
	peers := []string{"etcd", "nats", "postgres", "redsync", "redsync-three", "redislock"}
	smoke(t, "### Safety: what each lock promises",
		"-build=false", "-impls", strings.Join(peers, ","), "-workloads", "uncontended", "-delays", "1ms")
}

// This library leaves nothing, or the command fails.
func TestSmokeOfResidue(t *testing.T) {
	if os.Getenv("CURATOR_INTEGRATION") == "" {
		t.Skip("CURATOR_INTEGRATION is not set: not starting servers")
	}
	var table strings.Builder
	args := []string{"-impls", plan.Ours, "-ends", "20", "-out", t.TempDir()}
	if err := residueCommand(t.Context(), args, &table); err != nil {
		t.Fatal(err)
	}
	if found := regexp.MustCompile(`\n\| this library \|.* \| 0 of \d\d \| 0 of \d\d \|\n`).FindString(table.String()); found == "" {
		t.Errorf("got no line of this library with both figures:\n%s", table.String())
	}
}

// windows are tried until something was acquired in every one: on a busy machine, that may not be so in the shortest.
var windows = []string{"300ms", "3s", "30s"}

// smoke runs the benchmark and checks that its tables have a line.
func smoke(t *testing.T, line string, args ...string) {
	t.Helper()
	mode := os.Getenv("CURATOR_INTEGRATION")
	if mode == "" {
		t.Skip("CURATOR_INTEGRATION is not set: not starting servers")
	}
	out := t.TempDir()
	var results *report.Results
	for _, window := range windows {
		o, err := parse(append(slices.Clone(args), "-window", window,
			"-rounds", "1", "-warmup", "500ms", "-jvm-warmup", "1s", "-foreign", "1", "-disk", "", "-out", out))
		if err != nil {
			t.Fatal(err)
		}
		begun := time.Now()
		if results, err = measureAll(t.Context(), o); err != nil {
			t.Fatal(err)
		}
		t.Logf("%d runs in %v", len(results.Runs), time.Since(begun))
		if !slices.ContainsFunc(results.Runs, func(r report.Run) bool { return r.Figures.Acquisitions == 0 }) {
			break
		}
	}
	if missing := requiredOf(results.Conditions.Missing); len(missing) > 0 {
		if mode == "required" {
			t.Fatalf("not everything is installed: %v", missing)
		}
		t.Skipf("not everything is installed: %v", missing)
	}
	if len(results.Runs) == 0 {
		t.Skipf("nothing is installed: %v", results.Conditions.Missing)
	}
	for _, run := range results.Runs {
		judge(t, run)
	}
	if err := write(results, out); err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(filepath.Join(out, "results.md"))
	if err != nil || !strings.Contains(string(text), line) {
		t.Errorf("got tables without %q (%v):\n%s", line, err, text)
	}
	text, err = os.ReadFile(filepath.Join(out, "targets.txt"))
	if err != nil || !strings.Contains(string(text), "not measured") {
		t.Errorf("the targets (%v):\n%s", err, text)
	}
}

// requiredOf are the missing clients whose server integration/run fetches.
func requiredOf(missing map[string]string) map[string]string {
	missing = maps.Clone(missing)
	maps.DeleteFunc(missing, func(id, _ string) bool {
		i, _ := plan.Client(id)
		return i.Server != server.ZooKeeper
	})
	return missing
}

func judge(t *testing.T, r report.Run) {
	t.Helper()
	f := r.Figures
	t.Log(describe(r))
	i, _ := plan.Client(r.Impl)
	allowed := int64(0)
	if i.Server != server.ZooKeeper {
		allowed = f.Acquisitions / 2 // an acquire that polls gives up after some tries
	}
	if r.Failed != "" || f.Acquisitions == 0 || f.Errors > allowed || f.Overlaps > 0 {
		t.Errorf("%s, %s: %s %+v", r.Case, r.Impl, r.Failed, f)
		return
	}
	// How many is for longer windows to say: the server's and the workers' are not quite the same.
	if i.Server == server.ZooKeeper && (f.Requests <= 0 || f.Syncs <= 0) {
		t.Errorf("%s, %s: %.2f requests and %.2f syncs for each acquisition", r.Case, r.Impl, f.Requests, f.Syncs)
	}
	w, _ := plan.Named(r.Workload)
	if !w.Contended || f.HandOverP50 < 0 { // on a busy machine there may have been a single acquisition
		return
	}
	if time.Duration(f.HandOverP50*1000) < 2*r.Delay { // the deletion goes there, and the news comes back
		t.Errorf("%s, %s: handed over in %.0f µs", r.Case, r.Impl, f.HandOverP50)
	}
}
