//go:build linux

package zklock_test

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/gocurator/curator/framework/zktest"
	"github.com/gocurator/curator/framework/zktest/await"
)

// delegated makes a cgroup that belongs to an ordinary user, as systemd does with Delegate=yes. It returns what starts
// a process in it, and the directory.
func delegated(t *testing.T) (in func(*exec.Cmd), dir string) {
	t.Helper()
	if os.Getuid() != 0 {
		unable(t, "only root can delegate a cgroup")
	}
	mounts, err := os.ReadFile("/proc/mounts")
	if err != nil {
		unable(t, err)
	}
	for line := range strings.Lines(string(mounts)) {
		if fields := strings.Fields(line); len(fields) > 2 && fields[2] == "cgroup2" && dir == "" {
			dir, err = os.MkdirTemp(fields[1], "zklock-test") //nolint:usetesting // in the hierarchy of cgroups
		}
	}
	if dir == "" || err != nil {
		unable(t, "no cgroup2 that can be written is mounted: ", err)
	}
	t.Cleanup(func() {
		if err := syscall.Rmdir(dir); err != nil {
			left, _ := filepath.Glob(filepath.Join(dir, "zklock-*"))
			t.Errorf("the cgroup is not empty after the test: %v, %v", err, left)
		}
	})
	if _, err := os.Stat(filepath.Join(dir, "cgroup.kill")); err != nil {
		unable(t, "cgroups of this kernel cannot be killed: ", err)
	}
	for _, name := range []string{"", "cgroup.procs"} {
		if err := os.Chown(filepath.Join(dir, name), ordinaryUser, ordinaryUser); err != nil {
			t.Fatal(err)
		}
	}
	parent, err := os.Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { parent.Close() })
	return func(cmd *exec.Cmd) {
		cmd.SysProcAttr.UseCgroupFD, cmd.SysProcAttr.CgroupFD = true, int(parent.Fd())
	}, dir
}

// A process of root below an ordinary user's zklock ends in time, without a word: what signals do not reach, the
// cgroup's end does.
func TestSetuidProgramInACgroupEndsBeforeTheNextCommand(t *testing.T) {
	t.Parallel()
	for _, l := range losses {
		t.Run(l.name, func(t *testing.T) {
			t.Parallel()
			in, dir := delegated(t)
			server := zktest.New(t, zktest.WithTickTime(100*time.Millisecond))
			c := newSetuidContestIn(t, server, in, with(short, "-allow-setuid")...)
			if c.ofRoot() == 0 {
				t.Fatal("no process of the command runs as root")
			}
			if got := c.holder.await("started").Cgroup; !strings.HasPrefix(got, "/"+filepath.Base(dir)+"/zklock-") {
				t.Errorf("got the cgroup %q, want one below %s", got, dir)
			}
			c.play(server, l)
			if _, gone, _ := c.holder.seen("gone"); l.atOnce && !gone {
				t.Error("the keeper has not ended the command by itself")
			}
			if !l.atOnce {
				t.Logf("%+v", c.judge())
			}
			cgroupsGone(t, dir)
		})
	}
}

// cgroupsGone waits until no cgroup of a command is left. That of a zklock that was killed is removed by its keeper,
// which may end later.
func cgroupsGone(t *testing.T, dir string) {
	t.Helper()
	var left []string
	if !await.Within(removal, func() bool {
		left, _ = filepath.Glob(filepath.Join(dir, "zklock-*"))
		return len(left) == 0
	}) {
		t.Errorf("cgroups %v are left", left)
	}
}

// No process is left that ends the daemon: it is root's, and no ordinary user may read its environment. The next zklock
// in the same cgroup ends it, and then starts its command.
func TestCgroupOfAHoldWhoseKeepersWereKilledIsEndedBeforeTheNextCommand(t *testing.T) {
	t.Parallel()
	in, dir := delegated(t)
	server := zktest.New(t, zktest.WithTickTime(100*time.Millisecond))
	c := newSetuidContestIn(t, server, in, with(session, "-allow-setuid")...)
	orphan := c.ofRoot()
	c.waiter = unprivileged(t, server.Addr(), openFile(t, openDir(t), "waiter"), in, with(session, "/locks/a")...)
	c.waiter.await("waiting")
	c.killBoth()
	if !runs(orphan) {
		t.Fatalf("process %d has ended, and should be left over", orphan)
	}
	server.ExpireSession(c.session(server))
	c.waiter.await("started")
	if runs(orphan) {
		t.Errorf("a command was started beside process %d", orphan)
	}
	c.waiter.awaitOutput("stamping\nstamping\n")
	c.waiter.signal(syscall.SIGTERM)
	c.waiter.wantStatus(137)
	cgroupsGone(t, dir)
}

// A cgroup that cannot be made is no reason not to run.
func TestCommandRunsWhereNoCgroupCanBeMade(t *testing.T) {
	t.Parallel()
	in, dir := delegated(t)
	if err := errors.Join(os.Chown(dir, 0, 0), os.Chmod(dir, 0o755)); err != nil { //nolint:gosec // as it was
		t.Fatal(err)
	}
	server := zktest.New(t)
	r := startWith(t, func(cmd *exec.Cmd) {
		cmd.Env = append(cmd.Env, "ZOOKEEPER="+server.Addr())
		byNobody(t, cmd)
		in(cmd)
	}, "/locks/a", "--", "true")
	r.wantStatus(0)
	if e := r.await("started"); e.Cgroup != "" {
		t.Errorf("got the cgroup %q, want none", e.Cgroup)
	}
	if text := r.errors(); !strings.Contains(text, "without a cgroup of its own: mkdir ") {
		t.Errorf("zklock says %q, want that there is no cgroup, and why", text)
	}
}
