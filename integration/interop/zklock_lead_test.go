//go:build linux

package interop_test

import (
	"bufio"
	"encoding/json"
	"net/http"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/gocurator/curator/examples/programs"
	"github.com/gocurator/curator/framework/zktest/await"
	"github.com/gocurator/curator/integration/interop/godriver"
)

// A sidecar takes its turn between participants in Java, names the one that leads, and is listed by its own name.
func TestZklockLeadStandsInOneQueueWithLeaderSelectorsInJava(t *testing.T) {
	w := newWorld(t)
	zklock := filepath.Join(t.TempDir(), "zklock")
	if output, err := programs.GoBuild(t.Context(), "-o", zklock, "github.com/gocurator/curator/examples/zklock").CombinedOutput(); err != nil {
		t.Fatalf("build zklock: %v\n%s", err, output)
	}
	for _, kind := range []string{java, oldJava} {
		t.Run(kind, func(t *testing.T) {
			w := w.in(t)
			path := "/leader/" + name("s")
			order := godriver.Order{Recipe: "selector", Path: path}
			first, last := w.contender(kind, order), w.contender(kind, order)
			first.acquire()
			sidecar, leader := startSidecar(t, zklock, w.addr, path)
			w.awaitChildren(path, 2)
			wait := last.queue(path)
			wait.waits()
			w.wantParticipants(first, first.who, "sidecar", last.who)
			awaitLeader(t, leader, first.who, http.StatusServiceUnavailable)
			first.release()
			awaitLeader(t, leader, "sidecar", http.StatusOK)
			w.wantParticipants(first, "sidecar", last.who)
			if err := sidecar(syscall.SIGTERM); err != nil {
				t.Fatal(err)
			}
			wait.granted()
			last.release()
			w.awaitChildren(path, 0)
		})
	}
}

// startSidecar starts zklock lead, and returns what signals it and where it answers whether it leads.
func startSidecar(t *testing.T, zklock, servers, path string) (signal func(syscall.Signal) error, url string) {
	t.Helper()
	cmd := programs.Command(t, zklock, "lead", "-zk", servers, "-listen", "127.0.0.1:0", "-name", "sidecar", "-promise", "100ms", path)
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = cmd.Process.Kill() // it may have ended
		_ = cmd.Wait()
	})
	line, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		t.Fatal(err)
	}
	return func(s syscall.Signal) error { return cmd.Process.Signal(s) }, strings.TrimSpace(line) + "/am-i-leader"
}

// awaitLeader waits until the sidecar names a leader, with a status.
func awaitLeader(t *testing.T, url, name string, status int) {
	t.Helper()
	await.Until(t, patience, name+" to be named as the leader", func() bool {
		request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, url, nil)
		if err != nil {
			t.Fatal(err)
		}
		response, err := http.DefaultClient.Do(request)
		if err != nil {
			return false
		}
		defer response.Body.Close()
		var got struct{ Name string }
		return json.NewDecoder(response.Body).Decode(&got) == nil && got.Name == name && response.StatusCode == status
	})
}
