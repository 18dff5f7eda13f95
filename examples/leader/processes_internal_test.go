//go:build unix

package main

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"os/exec"
	"regexp"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/gocurator/curator/examples/programs"
	"github.com/gocurator/curator/examples/programs/process"
	"github.com/gocurator/curator/framework/zktest"
	"github.com/gocurator/curator/framework/zktest/await"
)

// patience bounds waits for what must happen.
const patience = time.Minute

func TestExitStatusTellsUsageFromFailure(t *testing.T) {
	server := zktest.NewServer()
	defer server.Close()
	binary := programs.Build(t)
	for args, want := range map[string]int{
		"-h":          0,
		"-what":       2,
		"rest":        2,
		"-listen :0":  2, // without -zk
		"-pause 0s":   2,
		"-session 0s": 2,
		"-zk " + server.Addr() + " -listen nowhere:nothing": 2,
		"-zk 127.0.0.1:1 -listen 127.0.0.1:0":               1, // where no server is
	} {
		output, err := programs.Command(t, binary, strings.Fields(args)...).CombinedOutput()
		var exit *exec.ExitError
		if err != nil && !errors.As(err, &exit) {
			t.Fatal(err)
		}
		got := 0
		if exit != nil {
			got = exit.ExitCode()
		}
		if got != want || len(output) == 0 {
			t.Errorf("%s: got status %d, want %d:\n%s", args, got, want, output)
		}
	}
}

// A service is a replica in a process of its own.
type service struct {
	*process.Process
	url string
}

func startService(t *testing.T, binary, connect, id string) *service {
	t.Helper()
	p := process.Start(t, binary, "-zk", connect, "-listen", "127.0.0.1:0", "-id", id, "-session", "30s", "-pause", "10ms")
	return &service{p, regexp.MustCompile(`http://[^/]+`).FindString(p.Await("serves http://"))}
}

// awaitReady waits until /readyz answers with a text.
func (s *service) awaitReady(t *testing.T, want string) {
	t.Helper()
	got := ""
	if !await.Within(patience, func() bool {
		answer, err := http.Get(s.url + "/readyz")
		if err != nil {
			t.Fatal(err)
		}
		body, err := io.ReadAll(answer.Body)
		answer.Body.Close()
		got = fmt.Sprintf("%d %s", answer.StatusCode, strings.TrimSpace(string(body)))
		return err == nil && got == want
	}) {
		await.Fatalf(t, "/readyz to answer %q (%v), got %q", want, patience, got)
	}
}

// awaitStanding waits until n replicas stand for election.
func awaitStanding(t *testing.T, server *zktest.Server, n int) {
	t.Helper()
	got := 0
	if !await.Within(patience, func() bool { got = len(server.Children("/examples/leader" + election)); return got == n }) {
		await.Fatalf(t, "%d replicas to stand for election (%v), got %d", n, patience, got)
	}
}

// The sessions last for half a minute: the second process would have to wait for that if the first had just gone.
func TestProcessStoppedBySIGTERMHandsTheLeadershipOn(t *testing.T) {
	server := zktest.NewServer()
	defer server.Close()
	binary := programs.Build(t)
	first := startService(t, binary, server.Addr(), "a")
	first.awaitReady(t, "200 leader")
	second := startService(t, binary, server.Addr(), "b")
	second.awaitReady(t, "200 standby") // also before it has a connection
	awaitStanding(t, server, 2)
	http.DefaultClient.CloseIdleConnections() // Shutdown would wait for one that was never used
	first.Signal(syscall.SIGTERM)
	first.Await("a leaves between two items")
	first.Await("a has ended in order")
	if got := first.Wait(); got != 0 {
		t.Errorf("got status %d of the process that was stopped, want 0", got)
	}
	for deadline := time.Now().Add(20 * time.Second); len(server.Sessions()) != 1; time.Sleep(10 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("sessions after the first process has ended: got %d, want 1", len(server.Sessions()))
		}
	}
	second.Await("b leads")
	second.awaitReady(t, "200 leader")
}
