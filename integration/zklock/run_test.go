//go:build linux

package zklock_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/go-zookeeper/zk"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/framework/zktest"
	"github.com/gocurator/curator/framework/zktest/await"
	"github.com/gocurator/curator/recipes/locks"
)

// session is for tests that wait for its end. A machine that stands still for five seconds brings no TERM, and KILL
// still comes before the next one is let in: the margin is longer.
var session = []string{"-session", "28s", "-grace", "1s", "-margin", "6s"}

func with(flags []string, more ...string) []string { return append(slices.Clone(flags), more...) }

// script is a command by the shell.
func script(text string) []string { return []string{"--", "sh", "-c", text} }

// awaitOutput waits until the command has printed a text.
func (r *running) awaitOutput(text string) {
	r.t.Helper()
	if !await.Within(patience, func() bool { return strings.Contains(r.output(), text) }) {
		await.Fatalf(r.t, "the command to print %q (%v), got %q", text, patience, r.output())
	}
}

func TestStatusOfTheCommandIsPassedOn(t *testing.T) {
	t.Parallel()
	server := zktest.New(t)
	for text, want := range map[string]int{"exit 0": 0, "exit 3": 3, "kill -9 $$": 137, "kill -15 $$": 143} {
		r := start(t, server.Addr(), with([]string{"/locks/a"}, script(text)...)...)
		r.wantStatus(want)
		if got, want := r.names(), "acquired started exited gone released"; got != want {
			t.Errorf("%s: events %s, want %s", text, got, want)
		}
	}
	wantNodes(t, server, "/locks/a", 0)
}

func TestCommandHasTheLockInItsEnvironment(t *testing.T) {
	t.Parallel()
	server := zktest.New(t)
	r := start(t, server.Addr(), with([]string{"/locks/b", "/locks/a"}, script("env; read line; echo got $line")...)...)
	r.wantStatus(0) // its standard input is that of the test: empty
	first := r.await("acquired")
	for _, want := range []string{
		"ZKLOCK_COUNT=2", "ZKLOCK_PATH=/locks/a", "ZKLOCK_0_PATH=/locks/a", "ZKLOCK_1_PATH=/locks/b", "ZKLOCK_KIND=mutex",
		"ZKLOCK_NODE=" + first.Node, "ZKLOCK_TOKEN=" + strconv.FormatInt(first.Token, 10), "ZKLOCK_SESSION_ID=0x",
		"ZKLOCK_TIMEOUT_MS=30000", "ZKLOCK_HELD=/locks/a:/locks/b",
	} {
		if !strings.Contains(r.wholeOutput(), want) {
			t.Errorf("the environment lacks %s:\n%s", want, r.output())
		}
	}
}

func TestCommandOfANestedRunHasTheVariablesOfItsOwnLockAlone(t *testing.T) {
	t.Parallel()
	server := zktest.New(t)
	r := start(t, server.Addr(), with([]string{"/locks/a", "/locks/b"}, script(program+" run /locks/c -- env")...)...)
	r.wantStatus(0)
	var got []string
	for line := range strings.Lines(r.wholeOutput()) {
		variable, value, _ := strings.Cut(strings.TrimSpace(line), "=")
		_, outside := os.LookupEnv(variable)
		switch {
		case outside:
		case slices.Contains([]string{"ZKLOCK_PATH", "ZKLOCK_COUNT", "ZKLOCK_HELD"}, variable):
			got = append(got, variable+"="+value)
		case strings.HasPrefix(variable, "ZKLOCK_"):
			got = append(got, variable)
		}
	}
	slices.Sort(got)
	setting, _, _ := strings.Cut(calm, "=") // the user's own setting stays
	want := []string{
		setting, "ZKLOCK_COUNT=1", "ZKLOCK_HELD=/locks/a:/locks/b:/locks/c", "ZKLOCK_KEEPERS", "ZKLOCK_KIND", "ZKLOCK_NODE", "ZKLOCK_PATH=/locks/c",
		"ZKLOCK_SESSION_ID", "ZKLOCK_TIMEOUT_MS", "ZKLOCK_TOKEN",
	}
	if !slices.Equal(got, want) {
		t.Errorf("got the variables %q, want %q", got, want)
	}
}

func TestCommandReadsStandardInput(t *testing.T) {
	t.Parallel()
	server := zktest.New(t)
	for _, c := range []struct {
		flags []string
		want  string
	}{{nil, "got one"}, {[]string{"-stdin-null"}, "got"}} {
		r := startWith(t, func(cmd *exec.Cmd) {
			cmd.Env = append(cmd.Env, "ZOOKEEPER="+server.Addr())
			cmd.Stdin = strings.NewReader("one\n")
		}, with(with(c.flags, "/locks/a"), script("read line; echo got $line")...)...)
		r.wantStatus(0)
		if got := strings.TrimSpace(r.wholeOutput()); got != c.want {
			t.Errorf("%v: the command printed %q, want %q", c.flags, got, c.want)
		}
	}
}

func TestWrongUseIsRefusedBeforeAnythingIsLocked(t *testing.T) {
	t.Parallel()
	server := zktest.New(t)
	closed := filepath.Join(t.TempDir(), "no-program")
	if err := os.WriteFile(closed, []byte("#!/bin/sh\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		args []string
		want int
		says string
	}{
		{[]string{"/locks/a"}, 64, "behind --"},
		{[]string{"--", "true"}, 64, "no path"},
		{[]string{"locks/a", "--", "true"}, 64, "no path of a lock"},
		{[]string{"/locks/a", "/locks/a", "--", "true"}, 64, "twice"},
		{[]string{"-read", "-write", "/locks/a", "--", "true"}, 64, "exclude each other"},
		{[]string{"-semaphore", "-1", "/locks/a", "--", "true"}, 64, "at least 1"},
		{[]string{"-semaphore", "0", "/locks/a", "--", "true"}, 64, "-semaphore 0: want at least 1"},
		{[]string{"-semaphore", "0", "-read", "/locks/a", "--", "true"}, 64, "exclude each other"},
		{[]string{"-try", "-wait", "0s", "/locks/a", "--", "true"}, 64, "-try and -wait exclude each other"},
		{[]string{"-no-such-flag", "/locks/a", "--", "true"}, 64, "not defined"},
		{[]string{"-on-revoke", "quit", "/locks/a", "--", "true"}, 64, "want term"},
		{[]string{"-status-fd", "77", "/locks/a", "--", "true"}, 64, "-status-fd"},
		{[]string{"/locks/a", "--", "no-such-command-at-all"}, 127, "not found"},
		{[]string{"/locks/a", "--", closed}, 126, "permission denied"},
		{[]string{"-session", "8s", "-grace", "2s", "-margin", "1s", "/locks/a", "--", "true"}, 78, "a quarter of the session timeout"},
	} {
		r := start(t, server.Addr(), c.args...)
		r.wantStatus(c.want)
		if !strings.Contains(r.errors(), c.says) {
			t.Errorf("%v: says %q, want %q in it", c.args, r.errors(), c.says)
		}
	}
	if server.Exists("/locks") {
		t.Error("something was locked")
	}
}

func TestServersThatDoNotAnswerAreAStatusOfTheirOwn(t *testing.T) {
	t.Parallel()
	r := start(t, "127.0.0.1:1", "-connect-timeout", "1s", "/locks/a", "--", "true")
	r.wantStatus(69)
}

func TestMissingPermissionIsAStatusOfItsOwn(t *testing.T) {
	t.Parallel()
	server := zktest.New(t)
	client := connect(t, server.Addr())
	_, _, err := client.Create(t.Context(), "/closed", nil, framework.WithACL(zk.WorldACL(zk.PermRead)...))
	if err != nil {
		t.Fatal(err)
	}
	start(t, server.Addr(), "/closed/a", "--", "true").wantStatus(77)
}

func connect(t *testing.T, addr string) *framework.Client {
	t.Helper()
	client, err := framework.NewClient(addr)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { client.Close() })
	return client
}

func TestTakenLockIsNotWaitedForLongerThanAllowed(t *testing.T) {
	t.Parallel()
	server := zktest.New(t)
	holder := start(t, server.Addr(), with([]string{"-data", "nightly", "/locks/a"}, script("exec sleep 1000")...)...)
	holder.await("started")
	for _, c := range []struct {
		flags []string
		want  int
	}{{[]string{"-try"}, 75}, {[]string{"-wait", "100ms"}, 75}, {[]string{"-wait", "0s", "-E", "9"}, 9}} {
		r := start(t, server.Addr(), with(c.flags, "/locks/a", "--", "true")...)
		r.wantStatus(c.want)
		if _, started, _ := r.seen("started"); started {
			t.Errorf("%v: the command was started", c.flags)
		}
		if want := "/locks/a is held by nightly since "; !strings.Contains(r.errors(), want) {
			t.Errorf("%v: says %q, want %q in it", c.flags, r.errors(), want)
		}
	}
	wantNodes(t, server, "/locks/a", 1) // the holder's alone
}

func TestWaiterTellsWhoIsAhead(t *testing.T) {
	t.Parallel()
	server := zktest.New(t)
	holder := start(t, server.Addr(), with([]string{"-data", "billing\x1b[2J", "/locks/a"}, script("exec sleep 1000")...)...)
	holder.await("started")
	waiter := start(t, server.Addr(), "/locks/a", "--", "true")
	if e := waiter.await("waiting"); e.Behind != "billing?[2J" || e.Ahead != 1 {
		t.Errorf("waits behind %q, %d ahead, want billing and 1", e.Behind, e.Ahead)
	}
	holder.signal(syscall.SIGTERM)
	holder.wantStatus(143)
	waiter.wantStatus(0)
}

func TestKindsShareAsTheyShould(t *testing.T) {
	t.Parallel()
	server := zktest.New(t)
	sleep := script("exec sleep 1000")
	for _, args := range [][]string{
		{"-read", "/locks/rw"},
		{"-read", "/locks/rw"},
		{"-semaphore", "2", "/locks/s"},
		{"-semaphore", "2", "/locks/s"},
		{"-leader", "-data", "me", "/locks/l"},
	} {
		start(t, server.Addr(), with(args, sleep...)...).await("started")
	}
	for _, args := range [][]string{{"-write", "/locks/rw"}, {"-semaphore", "2", "/locks/s"}, {"-leader", "/locks/l"}, {"/locks/l"}} {
		start(t, server.Addr(), with(with(args, "-try"), sleep...)...).wantStatus(75)
	}
	start(t, server.Addr(), with([]string{"-semaphore", "2", "/locks/rw"}, sleep...)...).wantStatus(78)
	data, _ := server.Data("/locks/l/" + server.Children("/locks/l")[0])
	if string(data) != "me" {
		t.Errorf("the leader's id is %q, want me", data)
	}
}

func TestNestedRunOnTheSamePathIsRefused(t *testing.T) {
	t.Parallel()
	server := zktest.New(t)
	for _, c := range []struct {
		inner string
		want  int
	}{{"/locks/a", 64}, {"-reenter /locks/a", 5}, {"/locks/a:1", 5}} {
		r := start(t, server.Addr(), with([]string{"/locks/a"}, script(fmt.Sprintf("%s run %s -- sh -c 'exit 5'", program, c.inner))...)...)
		r.wantStatus(c.want)
	}
}

func TestSignalEndsAWait(t *testing.T) {
	t.Parallel()
	server := zktest.New(t)
	holder := start(t, server.Addr(), with([]string{"/locks/a"}, script("exec sleep 1000")...)...)
	holder.await("started")
	for _, s := range []syscall.Signal{syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP, syscall.SIGQUIT} {
		r := start(t, server.Addr(), "/locks/a", "--", "true")
		r.await("waiting")
		r.signal(s)
		r.wantStatus(128 + int(s))
		wantNodes(t, server, "/locks/a", 1) // the holder's alone
	}
}

func TestSignalsArePassedOnToTheCommand(t *testing.T) {
	t.Parallel()
	server := zktest.New(t)
	// the grace bounds the time of the trap
	r := start(t, server.Addr(), with([]string{"-session", "1m", "-grace", "14s", "/locks/a"}, script(`
		trap 'echo usr1' USR1; trap 'echo hup' HUP; trap 'echo int' INT; trap 'echo term; exit 4' TERM
		echo ready; while :; do sleep 0.02; done`)...)...)
	r.awaitOutput("ready")
	for s, name := range map[syscall.Signal]string{syscall.SIGUSR1: "usr1", syscall.SIGHUP: "hup", syscall.SIGINT: "int"} {
		r.signal(s)
		r.awaitOutput(name)
	}
	r.signal(syscall.SIGTSTP) // goes nowhere
	r.signal(syscall.SIGTERM)
	r.wantStatus(4)
	if !strings.Contains(r.wholeOutput(), "term") {
		t.Errorf("the command did not get TERM: %q", r.output())
	}
}

func TestCommandThatIgnoresTermIsKilledAfterTheGrace(t *testing.T) {
	t.Parallel()
	server := zktest.New(t)
	r := start(t, server.Addr(), with([]string{"-grace", "500ms", "/locks/a"}, script("trap '' TERM; echo ready; while :; do sleep 0.02; done")...)...)
	r.awaitOutput("ready")
	r.signal(syscall.SIGTERM)
	r.wantStatus(137)
	r.allGone()
}

func TestRequestToLeaveBecomesASignal(t *testing.T) {
	t.Parallel()
	server := zktest.New(t)
	client := connect(t, server.Addr())
	for _, c := range []struct {
		flags []string
		want  int
	}{{nil, 143}, {[]string{"-on-revoke", "usr1"}, 138}, {[]string{"-on-revoke", "ignore"}, 129}} {
		r := start(t, server.Addr(), with(with(c.flags, "/locks/a"), script("exec sleep 1000")...)...)
		r.await("started")
		if err := locks.AttemptRevoke(t.Context(), client, "/locks/a/"+r.await("acquired").Node); err != nil {
			t.Fatal(err)
		}
		r.await("asked")
		if c.want == 129 {
			r.signal(syscall.SIGHUP)
		}
		r.wantStatus(c.want)
	}
}

func TestNodeRemovedByHandKillsAtOnce(t *testing.T) {
	t.Parallel()
	server := zktest.New(t)
	r := start(t, server.Addr(), with([]string{"/locks/a"}, script("trap '' TERM; echo ready; while :; do sleep 0.02; done")...)...)
	r.awaitOutput("ready")
	if err := server.Delete("/locks/a/" + r.await("acquired").Node); err != nil {
		t.Fatal(err)
	}
	r.wantStatus(79)
	r.allGone()
	r.await("lost")
	if _, warned, _ := r.seen("warned"); warned {
		t.Error("the command got a grace after the lock was gone")
	}
}

func TestProcessesThatAreLeftBehindAreKilled(t *testing.T) {
	t.Parallel()
	server := zktest.New(t)
	for name, text := range map[string]string{
		"a living grandchild":               "sleep 1000 & exit 6",
		"a daemon in a session of its own":  "setsid sleep 1000 & exit 6",
		"a daemon that was forked twice":    "(setsid sh -c 'sleep 1000 & exit' &) ; exit 6",
		"one that forks as fast as it can":  "(setsid sh -c 'while :; do sleep 0.01 & done' &) ; exit 6",
		"one that ignores what it can":      "(trap '' TERM HUP INT; setsid sleep 1000 &) ; exit 6",
		"several, stopped ones among them ": "sleep 1000 & kill -STOP $! ; setsid sleep 1000 & exit 6",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := start(t, server.Addr(), with([]string{"/locks/" + strings.ReplaceAll(name, " ", "-")}, script(text)...)...)
			r.wantStatus(6)
			r.allGone()
			if !strings.HasSuffix(r.names(), "gone released") {
				t.Errorf("events %s: the lock was released before all were gone", r.names())
			}
		})
	}
}

func TestProcessesThatAreLeftBehindKeepTheLockIfAsked(t *testing.T) {
	t.Parallel()
	server := zktest.New(t)
	fifo := filepath.Join(t.TempDir(), "fifo")
	if err := syscall.Mkfifo(fifo, 0o600); err != nil {
		t.Fatal(err)
	}
	r := start(t, server.Addr(), with([]string{"-leftovers", "wait", "/locks/a"}, script("(setsid cat "+fifo+" &) ; exit 6")...)...)
	if e := r.await("left"); len(e.Processes) == 0 {
		t.Errorf("got %v, want the processes that are left", e)
	}
	start(t, server.Addr(), "-try", "/locks/a", "--", "true").wantStatus(75)
	end, err := os.OpenFile(fifo, os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	end.Close() // cat ends
	r.wantStatus(6)
}

func TestMinHoldKeepsTheLockAfterAQuickCommand(t *testing.T) {
	t.Parallel()
	server := zktest.New(t)
	r := start(t, server.Addr(), "-min-hold", "1h", "/locks/a", "--", "true")
	r.await("gone")
	start(t, server.Addr(), "-try", "/locks/a", "--", "true").wantStatus(75)
	r.signal(syscall.SIGTERM)
	r.wantStatus(0)
}

// Whenever TERM comes, the command either never runs, or gets TERM as well.
func TestTermAtAnyMomentLeavesNoCommandBehind(t *testing.T) {
	t.Parallel()
	server := zktest.New(t)
	before, after := 0, 0
	for round := range 40 {
		r := start(t, server.Addr(), with([]string{"/locks/a"}, script("exec sleep 1000")...)...)
		if round%2 == 0 {
			r.await("acquired")
		}
		time.Sleep(time.Duration(round) * 250 * time.Microsecond) // a sweep over the moments, not a wait for anything
		r.signal(syscall.SIGTERM)
		r.wantStatus(143)
		r.allGone()
		if _, started, _ := r.seen("started"); started {
			after++
		} else {
			before++
		}
		if wantNodes(t, server, "/locks/a", 0); t.Failed() {
			t.Fatalf("in round %d", round)
		}
	}
	t.Logf("TERM came before the command %d times, and after its start %d times", before, after)
}

func TestKillOfZklockKillsAllOfTheCommand(t *testing.T) {
	t.Parallel()
	server := zktest.New(t)
	r := start(t, server.Addr(), with([]string{"/locks/a"}, script("setsid sleep 1000 & (trap '' TERM; sleep 1000) & echo ready; sleep 1000")...)...)
	r.awaitOutput("ready")
	r.signal(syscall.SIGKILL)
	r.wantStatus(137)
	r.allGone()
}

func TestKillOfTheKeeperKillsAllOfTheCommand(t *testing.T) {
	t.Parallel()
	server := zktest.New(t)
	r := start(t, server.Addr(), with([]string{"/locks/a"}, script("setsid sleep 1000 & echo ready; sleep 1000")...)...)
	r.await("started") // the keeper has reported it
	r.awaitOutput("ready")
	if err := syscall.Kill(r.keeper(), syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	r.wantStatus(79)
	r.allGone()
}

// The command itself ends with its keeper. What it has started would live on, if both were killed in one moment.
func TestKillOfBothKillsTheCommand(t *testing.T) {
	t.Parallel()
	server := zktest.New(t)
	r := start(t, server.Addr(), with([]string{"/locks/a"}, script("echo ready; exec sleep 1000")...)...)
	r.awaitOutput("ready")
	keeper := r.keeper()
	r.signal(syscall.SIGSTOP) // so that it does not notice the end of the keeper
	await.Until(t, patience, "zklock to stop", func() bool { return isStopped(t, r.cmd.Process.Pid) })
	if err := syscall.Kill(keeper, syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	r.signal(syscall.SIGKILL)
	r.wantStatus(137)
	r.allGone()
}

func isStopped(t *testing.T, pid int) bool {
	t.Helper()
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		t.Fatal(err)
	}
	_, state, _ := strings.Cut(string(stat), ") ")
	return strings.HasPrefix(state, "T")
}
