//go:build linux

package zklock_test

import (
	"encoding/json"
	"io"
	"net/http"
	"regexp"
	"strings"
	"sync"
	"syscall"
	"testing"

	"github.com/gocurator/curator/examples/programs"
	"github.com/gocurator/curator/examples/programs/process"
	"github.com/gocurator/curator/framework/zktest"
	"github.com/gocurator/curator/framework/zktest/await"
	"github.com/gocurator/curator/recipes/leader"
	"github.com/gocurator/curator/recipes/locks"
)

// zklock runs a command of zklock to its end.
func zklock(t *testing.T, server string, args ...string) (stdout, stderr string, status int) {
	t.Helper()
	cmd := programs.Command(t, program, args...)
	cmd.Env = append(cmd.Environ(), "ZOOKEEPER="+server, "HOME=/nonexistent", calm)
	var out, errs strings.Builder
	cmd.Stdout, cmd.Stderr = &out, &errs
	err := cmd.Run()
	if cmd.ProcessState == nil {
		t.Fatal(err)
	}
	return out.String(), errs.String(), cmd.ProcessState.ExitCode()
}

// wantOutput runs a command that must end with a status, and print some texts.
func wantOutput(t *testing.T, server string, status int, texts []string, args ...string) {
	t.Helper()
	stdout, stderr, got := zklock(t, server, args...)
	if got != status {
		t.Errorf("zklock %s: status %d, want %d; it printed %s%s", strings.Join(args, " "), got, status, stdout, stderr)
	}
	for _, text := range texts {
		if !strings.Contains(stdout+stderr, text) {
			t.Errorf("zklock %s: no %q in\n%s%s", strings.Join(args, " "), text, stdout, stderr)
		}
	}
}

// wantCompletion asks for completions until one is there: for people's sake zklock gives up after three seconds.
func wantCompletion(t *testing.T, server, want string, words ...string) {
	t.Helper()
	var stdout, stderr string
	var status int
	if !await.Within(patience, func() bool {
		stdout, stderr, status = zklock(t, server, append([]string{"complete", "--"}, words...)...)
		return status != 0 || stdout != ""
	}) {
		await.Fatalf(t, "zklock to complete %q to %s (%v), got nothing; %s", words, want, patience, stderr)
	}
	if status != 0 || strings.TrimSpace(stdout) != want {
		t.Errorf("zklock complete %q: got status %d and %q, want 0 and %s; %s", words, status, stdout, want, stderr)
	}
}

func TestQueueIsShown(t *testing.T) {
	t.Parallel()
	server := zktest.New(t)
	holder := start(t, server.Addr(), with([]string{"-data", "billing at host7", "/locks/nightly"}, script("exec sleep 1000")...)...)
	holder.await("started")
	waiter := start(t, server.Addr(), with([]string{"-data", "reports", "/locks/nightly"}, script("exec sleep 1000")...)...)
	waiter.await("waiting")
	node := holder.await("acquired").Node
	wantOutput(t, server.Addr(), 0, []string{
		"/locks/nightly: mutex, held by 1, 1 waiting", "holds", "billing at host7", "waits", "reports", node,
	}, "who", "-nodes", "/locks/nightly")
	wantOutput(t, server.Addr(), 0, []string{"/locks/nightly", "mutex", "billing at host7"}, "ls")
	wantOutput(t, server.Addr(), 0, []string{"came     billing", "let in   billing", "came     reports"}, "watch", "-for", "100ms", "/locks/nightly")
	wantOutput(t, server.Addr(), 0, []string{`"what":"let in"`}, "watch", "-json", "-for", "100ms", "/locks/nightly")
	wantCompletion(t, server.Addr(), "/locks/nightly", "who", "/locks/")
	wantOutput(t, server.Addr(), 0, []string{" at " + server.Addr() + ": heard ", "it is alive; ask it to leave: zklock revoke"},
		"who", "-answer-within", "1m", "/locks/nightly")
	stdout, _, _ := zklock(t, server.Addr(), "who", "-json", "-answer-within", "1m", "/locks/nightly")
	var lock struct {
		Contenders []struct {
			State, Who, Session string
			Token               int64
			Client              struct{ State, Address string }
		}
	}
	if err := json.Unmarshal([]byte(stdout), &lock); err != nil || len(lock.Contenders) != 2 ||
		lock.Contenders[0].Token != holder.await("acquired").Token || lock.Contenders[0].Client.State != "alive" || !strings.HasPrefix(lock.Contenders[0].Session, "0x") {
		t.Errorf("got %+v, %v from\n%s", lock, err, stdout)
	}
	output, _, status := zklock(t, server.Addr(), "revoke", "-wait", "1m", "/locks/nightly")
	if order := regexp.MustCompile(`(?s)^holder: billing at host7; session 0x\w+, since 20.* node ` + node + `\nasked billing at host7 .* has left\n$`); status != 0 ||
		!order.MatchString(output) {
		t.Errorf("got status %d and %q from revoke, want 0, and who holds before that it was asked", status, output)
	}
	holder.wantStatus(143)
	waiter.await("started")
}

func TestWrongPathIsNeverFree(t *testing.T) {
	t.Parallel()
	server := zktest.New(t)
	if err := server.Create("/locks", nil); err != nil {
		t.Fatal(err)
	}
	if err := server.Create("/locks/a", nil); err != nil {
		t.Fatal(err)
	}
	for _, command := range []string{"who", "watch", "revoke"} {
		wantOutput(t, server.Addr(), 66, []string{"no such node"}, command, "/locks/nightly")
		wantOutput(t, server.Addr(), 66, []string{"zklock ls /locks"}, command, "/locks")
		wantOutput(t, server.Addr(), 64, []string{"is no path"}, command, "locks/a")
		wantOutput(t, server.Addr(), 64, []string{"want one"}, command)
	}
	wantOutput(t, server.Addr(), 66, []string{"no such node"}, "ls", "/nothing")
	wantOutput(t, server.Addr(), 66, []string{"no such node"}, "doctor", "/nothing")
	wantOutput(t, server.Addr(), 0, []string{"is free"}, "who", "/locks/a")
	wantOutput(t, "127.0.0.1:1", 69, nil, "who", "-connect-timeout", "1s", "/locks/a")
	wantOutput(t, "", 64, []string{"-zk"}, "who", "/locks/a")
}

func TestHolderThatStaysIsAStatus(t *testing.T) {
	t.Parallel()
	server := zktest.New(t)
	client := connect(t, server.Addr())
	if _, err := locks.NewInterProcessMutex(client, "/locks/a").Acquire(t.Context()); err != nil {
		t.Fatal(err)
	}
	wantOutput(t, server.Addr(), 75, []string{"has not left"}, "revoke", "-wait", "300ms", "/locks/a")
	wantOutput(t, server.Addr(), 0, []string{"(was asked to leave)"}, "who", "/locks/a")
	latch := leader.NewLeaderLatch(client, "/latch")
	if err := latch.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	wantOutput(t, server.Addr(), 78, []string{"LeaderLatch"}, "revoke", "/latch")
}

func TestRevokeWaitsForEachOfTheHolders(t *testing.T) {
	t.Parallel()
	server := zktest.New(t)
	client := connect(t, server.Addr())
	var ended sync.WaitGroup
	defer ended.Wait()
	for range 2 {
		lease, err := locks.NewInterProcessReadWriteLock(client, "/locks/a").ReadLock().Acquire(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		ended.Go(func() {
			select {
			case <-lease.RevocationRequested():
				_ = lease.Release() // otherwise zklock does not end with 0
			case <-t.Context().Done():
			}
		})
	}
	stdout, stderr, status := zklock(t, server.Addr(), "revoke", "-wait", "1m", "/locks/a")
	if got := strings.Count(stdout, " has left\n"); status != 0 || got != 2 {
		t.Errorf("got status %d and %q%s, want 0, and that both have left", status, stdout, stderr)
	}
}

func TestBenchMeasures(t *testing.T) {
	t.Parallel()
	server := zktest.New(t)
	wantOutput(t, server.Addr(), 0, []string{"2 contenders", "20 acquisitions", "acquisitions a second"}, "bench", "-n", "10", "-contenders", "2")
}

func TestHelpAndUsage(t *testing.T) {
	t.Parallel()
	wantOutput(t, "", 64, []string{"zklock run"})
	wantOutput(t, "", 0, []string{"zklock run", "zklock who"}, "help")
	wantOutput(t, "", 0, []string{"-margin"}, "help", "run")
	wantOutput(t, "", 0, []string{".TH ZKLOCK 1"}, "help", "-man")
	wantOutput(t, "", 0, []string{"complete -o default"}, "completion", "bash")
	wantOutput(t, "", 64, []string{"no command \"whom\""}, "whom")
}

func TestServeServesThePage(t *testing.T) {
	t.Parallel()
	server := zktest.New(t)
	wantOutput(t, server.Addr(), 64, []string{"-user-file"}, "serve", "-listen", "0.0.0.0:0")
	serve := process.Start(t, program, "serve", "-listen", "127.0.0.1:0", "-zk", server.Addr())
	url := serve.Await("http://")
	request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, url, nil)
	if err != nil {
		t.Fatal(err)
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	if page, err := io.ReadAll(response.Body); err != nil || !strings.Contains(string(page), "<title>zklock</title>") {
		t.Errorf("got %q, %v, want the page", page, err)
	}
	serve.Signal(syscall.SIGTERM)
	if got := serve.Wait(); got != 143 {
		t.Errorf("got status %d of zklock serve, want 143", got)
	}
}
