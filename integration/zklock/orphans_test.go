//go:build linux

package zklock_test

import (
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/gocurator/curator/framework/zktest"
	"github.com/gocurator/curator/framework/zktest/await"
)

// killBoth kills zklock and its keeper before one of the two can act for the other. What has the stamps goes on.
func (c *contest) killBoth() {
	c.t.Helper()
	keeper := c.holder.keeper()
	c.holder.signal(syscall.SIGSTOP) // so that it does not notice the end of the keeper
	await.Until(c.t, patience, "zklock to stop", func() bool { return isStopped(c.t, c.holder.cmd.Process.Pid) })
	c.send(keeper, syscall.SIGKILL)
	c.holder.signal(syscall.SIGKILL)
	c.holder.wantStatus(137)
	// On a machine that is busy a killed process may go on to be listed. The next zklock, which the test lets in at
	// once, would take it for one that ends its command.
	await.Until(c.t, patience, "the keeper to end", func() bool { return !runs(keeper) })
}

// plainContest is a contest of two ordinary users, in whose cgroups nothing can be made.
func plainContest(t *testing.T, server *zktest.Server) *contest {
	t.Helper()
	dir := openDir(t)
	c := &contest{t: t, files: [2]string{openFile(t, dir, "holder"), openFile(t, dir, "waiter")}}
	begin := func(file string) *running {
		plain := filepath.Join(programsForAll(t), "plain")
		return startWith(t, func(cmd *exec.Cmd) {
			cmd.Env = append(cmd.Env, "ZOOKEEPER="+server.Addr(), stampFile+"="+file)
			byNobody(t, cmd)
		}, with(session, "/locks/a", "--", plain, "daemon")...)
	}
	c.holder = begin(c.files[0])
	c.holder.awaitOutput("stamping\nstamping\n")
	if group := c.holder.await("started").Cgroup; group != "" {
		t.Fatalf("the command of an ordinary user has the cgroup %s", group)
	}
	c.waiter = begin(c.files[1])
	c.waiter.await("waiting")
	return c
}

// The daemon of the command lives on after both have been killed. The next zklock on this machine, which has waited,
// gets the lock and does not start its command beside it.
func TestOrphansOfAHoldKeepTheNextCommandFromStarting(t *testing.T) {
	t.Parallel()
	server := zktest.New(t, zktest.WithTickTime(100*time.Millisecond))
	c := plainContest(t, server)
	c.killBoth()
	var orphan int
	await.Until(t, patience, "the command itself to end", func() bool {
		living := 0
		for w := range writersOf(t, c.files[0]) {
			if runs(int(w.pid)) {
				orphan, living = int(w.pid), living+1
			}
		}
		return living == 1
	})
	start(t, server.Addr(), "/locks/b", "--", "true").wantStatus(0) // another lock has no orphan
	server.ExpireSession(c.session(server))
	await.Until(t, patience, "the waiter to start its command, or not", func() bool {
		_, started, _ := c.waiter.seen("started")
		_, refused, _ := c.waiter.seen("failed")
		return started || refused
	})
	if _, started, _ := c.waiter.seen("started"); started {
		c.send(orphan, syscall.SIGKILL)
		c.waiter.signal(syscall.SIGKILL)
		t.Fatal("a command was started beside the orphan")
	}
	c.waiter.wantStatus(71)
	failed := c.waiter.await("failed")
	if len(failed.Processes) != 1 || !strings.HasPrefix(failed.Processes[0], strconv.Itoa(orphan)+" ") {
		t.Errorf("got the processes %v, want %d", failed.Processes, orphan)
	}
	if text := c.waiter.errors(); !strings.Contains(text, "PID "+strconv.Itoa(orphan)) {
		t.Errorf("zklock says %q, want PID %d in it", text, orphan)
	}
	wantNodes(t, server, "/locks/a", 0)
	c.send(orphan, syscall.SIGKILL)
	c.holder.allGone()
	start(t, server.Addr(), "/locks/a", "--", "true").wantStatus(0)
}

// Other holders of a semaphore hold the same path, and are no orphans. Neither is a command that runs zklock itself.
func TestLivingHoldersAreNoOrphans(t *testing.T) {
	t.Parallel()
	server := zktest.New(t)
	holder := start(t, server.Addr(), with([]string{"-semaphore", "2", "/locks/a"}, script("exec sleep 1000")...)...)
	holder.await("started")
	start(t, server.Addr(), "-semaphore", "2", "/locks/a", "--", program, "run", "/locks/b", "--", "true").wantStatus(0)
}
