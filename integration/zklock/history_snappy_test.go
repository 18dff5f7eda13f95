//go:build linux

package zklock_test

import (
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/framework/zktest/await"
	"github.com/gocurator/curator/integration/zookeeper"
	"github.com/gocurator/curator/recipes/locks"
)

// The logs begin behind a snapshot that snappy has compressed: that alone has the holder.
func TestHistoryReadsASnapshotThatSnappyHasCompressed(t *testing.T) {
	t.Parallel()
	server := zookeeper.Start(t, zookeeper.Config{JavaOptions: []string{
		"-Dzookeeper.snapCount=60", "-Dzookeeper.preAllocSize=64", "-Dzookeeper.snapshot.compression.method=snappy",
	}})
	client := connect(t, server.Addr())
	holders := strings.Repeat("worker ", 300) // repeated bytes are compressed
	lease, err := locks.NewInterProcessMutex(client, "/locks/mutex", locks.WithLockData([]byte(holders))).Acquire(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if _, _, err := client.Create(t.Context(), "/other", nil, framework.WithMode(framework.Persistent)); err != nil {
		t.Fatal(err)
	}
	var logs, snapshots []string
	await.Until(t, time.Minute, "a third log, and a snapshot before it", func() bool {
		if _, err := client.Set(t.Context(), "/other", nil, -1); err != nil {
			t.Fatal(err)
		}
		logs, snapshots = serverFiles(t, server.DataDir())
		return len(logs) >= 3 && len(snapshots) >= 2
	})
	newest := snapshots[len(snapshots)-1]
	// A server begins a log after the next transaction, or later: the log before has those in between.
	var from int64
	for _, log := range logs {
		if zxid := zxidOf(log); zxid <= zxidOf(newest) {
			from = max(from, zxid)
		}
	}
	if !strings.HasSuffix(newest, ".snappy") || from <= lease.FencingToken() {
		t.Fatalf("got %v and %v, want a compressed snapshot alone that has transaction %#x", snapshots, logs, lease.FencingToken())
	}
	await.Until(t, time.Minute, "a snapshot that is whole", func() bool {
		dir := copyFiles(t, server.DataDir(), func(name string) bool {
			return name == filepath.Base(newest) || strings.HasPrefix(name, "log.") && zxidOf(name) >= from
		})
		stdout, stderr, status := zklock(t, "", "history", dir, "/locks/mutex")
		return status == 0 && stderr == "" && strings.Contains(stdout, "holds") && strings.Contains(stdout, "worker worker")
	})
}
