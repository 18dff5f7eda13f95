//go:build linux

package zklock_test

import (
	"io"
	"os/exec"
	"strings"
	"syscall"
	"testing"

	"github.com/gocurator/curator/framework/zktest"
	"github.com/gocurator/curator/framework/zktest/await"
)

// startHold runs zklock hold, and returns the other end of its standard input.
func startHold(t *testing.T, server string, args ...string) (r *running, input io.Closer) {
	t.Helper()
	return startProgram(t, server, program, with([]string{"hold"}, args...)...)
}

// startProgram runs any program, which may start zklock.
func startProgram(t *testing.T, server, name string, args ...string) (r *running, input io.Closer) {
	t.Helper()
	in, out := pipe(t)
	r = startWith(t, func(cmd *exec.Cmd) {
		cmd.Path, cmd.Args, cmd.Stdin = name, with([]string{name}, args...), in
		cmd.Env = append(cmd.Env, "ZOOKEEPER="+server, "ZKLOCK="+program)
	})
	in.Close()
	t.Cleanup(func() { out.Close() })
	return r, out
}

func TestHoldLastsUntilStandardInputEnds(t *testing.T) {
	t.Parallel()
	server := zktest.New(t)
	r, input := startHold(t, server.Addr(), "/locks/b", "/locks/a")
	r.awaitOutput("/locks/b ")
	for i, line := range strings.Split(strings.TrimSpace(r.output()), "\n") {
		path := []string{"/locks/a", "/locks/b"}[i]
		nodes := server.Children(path)
		if fields := strings.Fields(line); len(fields) != 3 || fields[0] != path || len(nodes) != 1 || fields[2] != nodes[0] {
			t.Errorf("got %q as line %d, want %s, a token and one of %v", line, i, path, nodes)
		}
	}
	// A stop would have the holder lose the lock.
	r.signal(syscall.SIGTSTP)
	r.signal(syscall.SIGTTIN)
	if isStopped(t, r.cmd.Process.Pid) {
		t.Error("it was stopped, want that it goes on: others wait for the lock")
	}
	input.Close()
	r.wantStatus(0)
	wantNodes(t, server, "/locks/a", 0)
	wantNodes(t, server, "/locks/b", 0)
}

func TestHoldEndsForASignal(t *testing.T) {
	t.Parallel()
	server := zktest.New(t)
	r, _ := startHold(t, server.Addr(), "/locks/a")
	r.awaitOutput("/locks/a ")
	r.signal(syscall.SIGTERM)
	r.wantStatus(143)
	wantNodes(t, server, "/locks/a", 0)
}

func TestHoldEndsWhenTheNodeIsRemovedByHand(t *testing.T) {
	t.Parallel()
	server := zktest.New(t)
	r, _ := startHold(t, server.Addr(), "/locks/a")
	r.awaitOutput("/locks/a ")
	if err := connect(t, server.Addr()).Delete(t.Context(), "/locks/a/"+server.Children("/locks/a")[0], -1); err != nil {
		t.Fatal(err)
	}
	r.wantStatus(79)
	for _, want := range []string{"the lock is lost", "the node was removed, by another session or by hand"} {
		if !strings.Contains(r.errors(), want) {
			t.Errorf("got %q, want %q in it", r.errors(), want)
		}
	}
}

func TestHoldThatIsNotWantedAnyMoreLeavesTheQueue(t *testing.T) {
	t.Parallel()
	server := zktest.New(t)
	holder, _ := startHold(t, server.Addr(), "-data", "nightly", "/locks/a")
	holder.awaitOutput("/locks/a ")
	waiter, input := startHold(t, server.Addr(), "/locks/a")
	wantNodes(t, server, "/locks/a", 2)
	input.Close()
	waiter.wantStatus(75)
	if want := "standard input ended before the lock was acquired"; !strings.Contains(waiter.errors(), want) {
		t.Errorf("got %q, want %q in it", waiter.errors(), want)
	}
	wantNodes(t, server, "/locks/a", 1)
	try, _ := startHold(t, server.Addr(), "-try", "/locks/a")
	try.wantStatus(75)
	if want := "/locks/a is held by nightly since "; !strings.Contains(try.errors(), want) {
		t.Errorf("got %q, want %q in it", try.errors(), want)
	}
}

func TestWaitIsSaidWithoutBeingAskedFor(t *testing.T) {
	t.Parallel()
	server := zktest.New(t)
	holder, input := startHold(t, server.Addr(), "-data", "nightly", "/locks/a")
	holder.awaitOutput("/locks/a ")
	loud, _ := startHold(t, server.Addr(), "/locks/a")
	wantNodes(t, server, "/locks/a", 2)
	quiet, _ := startHold(t, server.Addr(), "-quiet", "/locks/a")
	await.Until(t, patience, "a line about the wait", func() bool { return strings.Contains(loud.said(), "waiting for /locks/a") })
	input.Close()
	loud.awaitOutput("/locks/a ")
	loud.signal(syscall.SIGTERM)
	loud.wantStatus(143)
	text := loud.errors()
	for _, want := range []string{"waiting for /locks/a: 1 ahead, the nearest is nightly\n", "holding /locks/a after "} {
		if strings.Count(text, want) != 1 {
			t.Errorf("got %q, want %q in it once", text, want)
		}
	}
	quiet.awaitOutput("/locks/a ")
	quiet.signal(syscall.SIGTERM)
	quiet.wantStatus(143)
	if got := quiet.errors(); got != "" {
		t.Errorf("with -quiet: got %q, want nothing", got)
	}
}

func TestHoldWithinAHoldOfTheSamePathIsRefused(t *testing.T) {
	t.Parallel()
	server := zktest.New(t)
	r := start(t, server.Addr(), with([]string{"/locks/a"}, "--", program, "hold", "/locks/a")...)
	r.wantStatus(64)
	if want := "would wait for itself"; !strings.Contains(r.errors(), want) {
		t.Errorf("got %q, want %q in it", r.errors(), want)
	}
}

// The manual of zklock hold shows this.
func TestScriptHoldsALockAndReleasesIt(t *testing.T) {
	t.Parallel()
	bash, err := exec.LookPath("bash")
	if err != nil {
		lacking(t, err)
	}
	server := zktest.New(t)
	r, _ := startProgram(t, server.Addr(), bash, "-c", `
		coproc "$ZKLOCK" hold /locks/nightly
		read -r path token node <&"${COPROC[0]}" || exit 1
		echo "$path $token"
		eval "exec ${COPROC[1]}>&-"
		wait "$COPROC_PID"`)
	r.wantStatus(0)
	if got, want := r.wholeOutput(), "/locks/nightly "; !strings.HasPrefix(got, want) {
		t.Errorf("got %q, want %q first", got, want)
	}
	wantNodes(t, server, "/locks/nightly", 0)
}
