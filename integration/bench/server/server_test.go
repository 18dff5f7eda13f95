package server_test

import (
	"errors"
	"os"
	"strings"
	"syscall"
	"testing"

	"github.com/gocurator/curator/integration/bench/server"
)

// Only the servers that are installed, or have been built, are started: CI has ZooKeeper's alone.
func TestServersLeaveNothingBehind(t *testing.T) {
	if os.Getenv("CURATOR_INTEGRATION") == "" {
		t.Skip("CURATOR_INTEGRATION is not set: not starting servers")
	}
	for kind, servers := range map[string]int{
		server.Redis: 1, server.RedisAlways: 1, server.ThreeRedis: 3, server.Postgres: 1, server.Etcd: 1, server.NATS: 1,
	} {
		t.Run(kind, func(t *testing.T) {
			dir := shared(t)
			s, err := server.Run(t.Context(), kind, dir, server.Options{Built: true})
			if errors.Is(err, server.ErrMissing) {
				t.Skip(err)
			}
			if err != nil {
				t.Fatal(err)
			}
			pids := s.PIDs()
			if got := strings.Count(s.Addr, ",") + 1; got != servers || len(pids) < servers {
				t.Errorf("got the addresses %s and the processes %v, want %d", s.Addr, pids, servers)
			}
			if s.Version == "" {
				t.Error("got no version")
			}
			if err := s.Close(); err != nil {
				t.Error(err)
			}
			for _, pid := range pids {
				if err := syscall.Kill(pid, 0); !errors.Is(err, syscall.ESRCH) {
					t.Errorf("process %d is still there (%v)", pid, err)
				}
			}
			if left, err := os.ReadDir(dir); err != nil || len(left) > 0 {
				t.Errorf("left behind: %v (%v)", left, err)
			}
		})
	}
}

// shared is a directory into which other users may look, as Postgres does.
func shared(t *testing.T) string {
	t.Helper()
	dir, err := os.MkdirTemp("", "curator-bench-test-") //nolint:usetesting // only root may look into those of T
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	if err := os.Chmod(dir, 0o755); err != nil { //nolint:gosec // it has no secrets
		t.Fatal(err)
	}
	return dir
}
