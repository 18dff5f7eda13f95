package server_test

import (
	"errors"
	"os"
	"path/filepath"
	"regexp"
	"testing"

	"github.com/gocurator/curator/integration/bench/server"
)

// pinned returns the version of a module in a go.mod.
func pinned(t *testing.T, file, module string) string {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	found := regexp.MustCompile(`(?m)^\s*` + regexp.QuoteMeta(module) + ` (v\S+)`).FindSubmatch(text)
	if found == nil {
		t.Fatalf("%s has no %s", file, module)
	}
	return string(found[1])
}

// A server and a client of different versions would be a combination that etcd does not recommend.
func TestEtcdsServerHasTheVersionOfItsClient(t *testing.T) {
	got, want := pinned(t, "built.mod", "go.etcd.io/etcd/server/v3"), pinned(t, "../go.mod", "go.etcd.io/etcd/client/v3")
	if got != want {
		t.Errorf("got a server %s, want that of the client, %s", got, want)
	}
}

// CI compiles every package of the benchmark's module: the servers are no part of it.
func TestServersAreNotInTheModuleOfTheBenchmark(t *testing.T) {
	text, err := os.ReadFile("../go.mod")
	if err != nil {
		t.Fatal(err)
	}
	for _, module := range []string{"go.etcd.io/etcd/server", "nats-io/nats-server"} {
		if regexp.MustCompile(regexp.QuoteMeta(module)).Match(text) {
			t.Errorf("go.mod has %s", module)
		}
	}
}

func TestBuildTakesAProgramThatIsThereAndMayBuildNoOther(t *testing.T) {
	checkout := t.TempDir()
	below := filepath.Join(checkout, "integration", "bench", "server")
	if err := os.MkdirAll(below, 0o700); err != nil {
		t.Fatal(err)
	}
	t.Chdir(below)
	if program, err := server.Build(t.Context(), server.Etcd, true); !errors.Is(err, server.ErrMissing) {
		t.Fatalf("got %q and %v, want that it is missing", program, err)
	}
	found, err := filepath.Glob(filepath.Join(checkout, "integration", ".cache", "*"))
	if err != nil || len(found) > 0 {
		t.Errorf("got %v (%v), want nothing in the cache", found, err)
	}
	want := server.Built(checkout, server.Etcd)
	if err := os.MkdirAll(filepath.Dir(want), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(want, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if got, err := server.Build(t.Context(), server.Etcd, true); got != want || err != nil {
		t.Errorf("got %q and %v, want %s", got, err, want)
	}
}

func TestBuildNeedsACheckout(t *testing.T) {
	t.Chdir(t.TempDir())
	if program, err := server.Build(t.Context(), server.NATS, false); !errors.Is(err, server.ErrMissing) {
		t.Errorf("got %q and %v, want that it is missing", program, err)
	}
}
