//go:build linux

package zklock_test

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/gocurator/curator/framework/zktest"
	"github.com/gocurator/curator/framework/zktest/await"
)

// ordinaryUser may signal no process of root.
const ordinaryUser = 65534

// becomeOwner makes a process that runs a setuid program one of the program's owner, as sudo and su do. Others stay as
// they are.
func becomeOwner() {
	if owner := os.Geteuid(); owner != os.Getuid() {
		if err := syscall.Setresuid(owner, owner, owner); err != nil {
			panic(err)
		}
	}
}

// copies are this test binary twice, where everybody can run it: as it is, and as a setuid program of root.
var copies = sync.OnceValues(func() (dir string, err error) {
	dir = filepath.Dir(program)
	for name, mode := range map[string]os.FileMode{"plain": 0o755, "setuid": 0o755 | os.ModeSetuid} {
		if err := copyProgram(filepath.Join(dir, name), mode); err != nil {
			return "", err
		}
	}
	return dir, nil
})

func copyProgram(to string, mode os.FileMode) error {
	in, err := os.Open("/proc/self/exe")
	if err != nil {
		return err
	}
	defer in.Close()
	out, err := os.OpenFile(to, os.O_CREATE|os.O_WRONLY|os.O_EXCL, 0o700)
	if err != nil {
		return err
	}
	_, err = io.Copy(out, in)
	return errors.Join(err, out.Close(), os.Chmod(to, mode))
}

// openDir is a directory in which everybody can write.
func openDir(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	err := errors.Join(os.Chmod(filepath.Dir(dir), 0o755), os.Chmod(dir, 0o777)) //nolint:gosec // for every user
	if err != nil {
		t.Fatal(err)
	}
	return dir
}

// openFile makes a file that everybody can write, and so each process of a command, in whatever order they come.
func openFile(t *testing.T, dir, name string) string {
	t.Helper()
	file := filepath.Join(dir, name)
	if err := errors.Join(os.WriteFile(file, nil, 0o600), os.Chmod(file, 0o666)); err != nil { //nolint:gosec // likewise
		t.Fatal(err)
	}
	return file
}

// byNobody has an ordinary user run a command. What it needs is there, or the test ends.
func byNobody(t *testing.T, cmd *exec.Cmd) {
	t.Helper()
	if os.Getuid() != 0 {
		unable(t, "only root can run zklock as another user: sudo go test -C integration ./zklock -run 'Setuid|Cgroup|Orphan|LossBeside|SecondSignal'")
	}
	if status, err := os.ReadFile("/proc/self/status"); err != nil || !strings.Contains(string(status), "\nNoNewPrivs:\t0\n") {
		unable(t, "setuid programs gain no privileges below this process: ", err)
	}
	openDir(t) // so that what the race detector writes can be beside it
	cmd.Dir = "/"
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: ordinaryUser, Gid: ordinaryUser}}
}

// programsForAll returns the directory of copies.
func programsForAll(t *testing.T) string {
	t.Helper()
	dir, err := copies()
	if err != nil {
		t.Fatal(err)
	}
	return dir
}

// unprivileged starts zklock as an ordinary user. Its command, which ignores TERM, and a daemon of it that runs a
// setuid program of root write stamps.
func unprivileged(t *testing.T, server, file string, prepare func(*exec.Cmd), args ...string) *running {
	t.Helper()
	dir := programsForAll(t)
	var fs syscall.Statfs_t
	const nosuid = 2 // ST_NOSUID
	if err := syscall.Statfs(dir, &fs); err != nil || fs.Flags&nosuid != 0 {
		unable(t, "the directory of temporary files honours no setuid programs: ", err)
	}
	return startWith(t, func(cmd *exec.Cmd) {
		cmd.Env = append(cmd.Env, "ZOOKEEPER="+server, stampFile+"="+file)
		byNobody(t, cmd)
		prepare(cmd)
	}, with(args, "--", filepath.Join(dir, "plain"), "daemon", filepath.Join(dir, "setuid"))...)
}

// newSetuidContest is a contest whose holder is an ordinary user's zklock with a setuid program below it.
func newSetuidContest(t *testing.T, server *zktest.Server, flags ...string) *contest {
	t.Helper()
	return newSetuidContestIn(t, server, func(*exec.Cmd) {}, flags...)
}

func newSetuidContestIn(t *testing.T, server *zktest.Server, prepare func(*exec.Cmd), flags ...string) *contest {
	t.Helper()
	dir := openDir(t)
	c := &contest{t: t, files: [2]string{openFile(t, dir, "holder"), filepath.Join(dir, "waiter")}}
	c.holder = unprivileged(t, server.Addr(), c.files[0], prepare, with(flags, "/locks/a")...)
	c.holder.awaitOutput("stamping\nstamping\n")
	return c
}

// contend starts the waiter.
func (c *contest) contend(server *zktest.Server) {
	c.t.Helper()
	c.waiter = stamping(c.t, server.Addr(), c.files[1], with(short, "/locks/a")...)
	c.waiter.await("waiting")
}

// short is a session for tests that wait for its end: shorter than the others', as these do little else.
var short = []string{"-session", "12s", "-grace", "500ms", "-margin", "2500ms"}

// A loss is a way to lose a lock, or the processes that look after it.
type loss struct {
	name   string
	status int // zklock's exit status
	lose   func(c *contest, server *zktest.Server)

	freezes bool // the server
	atOnce  bool // the next one is let in at the same moment: no command ends before that
	keeps   bool // the lease goes on
}

var losses = []loss{
	{name: "the server is frozen", status: 79, freezes: true, lose: func(*contest, *zktest.Server) {}},
	{name: "the keeper is stopped and the server frozen", status: 79, freezes: true, lose: func(c *contest, _ *zktest.Server) {
		c.send(c.holder.keeper(), syscall.SIGSTOP)
	}},
	{name: "the session has ended", status: 79, atOnce: true, lose: func(c *contest, server *zktest.Server) {
		server.ExpireSession(c.session(server))
	}},
	{name: "the node is removed", status: 79, atOnce: true, lose: func(c *contest, server *zktest.Server) {
		acquired := c.holder.await("acquired")
		if err := server.Delete(acquired.Path + "/" + acquired.Node); err != nil {
			c.t.Error(err)
		}
	}},
	{name: "zklock is killed", status: 137, lose: func(c *contest, _ *zktest.Server) { c.holder.signal(syscall.SIGKILL) }},
	// what is stopped goes on when it has something to do
	{name: "zklock is stopped", status: 79, keeps: true, lose: func(c *contest, _ *zktest.Server) { c.holder.signal(syscall.SIGSTOP) }},
	{name: "zklock and its keeper are stopped", status: 79, keeps: true, lose: func(c *contest, _ *zktest.Server) {
		keeper := c.holder.keeper()
		c.holder.signal(syscall.SIGSTOP)
		c.send(keeper, syscall.SIGSTOP)
	}},
	{name: "the keeper is killed", status: 79, keeps: true, lose: func(c *contest, _ *zktest.Server) {
		c.send(c.holder.keeper(), syscall.SIGKILL)
	}},
}

func (c *contest) send(pid int, sig syscall.Signal) {
	c.t.Helper()
	if err := syscall.Kill(pid, sig); err != nil {
		c.t.Error(err)
	}
}

// A writer is a process that has written stamps.
type writer struct{ pid, owner uint32 }

// writersOf returns the writers of a file.
func writersOf(t *testing.T, file string) map[writer]bool {
	t.Helper()
	all, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	found := map[writer]bool{}
	for ; len(all) >= 16; all = all[16:] {
		found[writer{binary.LittleEndian.Uint32(all), binary.LittleEndian.Uint32(all[4:])}] = true
	}
	return found
}

// ofRoot returns the process of root among the holder's, or 0.
func (c *contest) ofRoot() (pid int) {
	c.t.Helper()
	for w := range writersOf(c.t, c.files[0]) {
		if w.owner == 0 {
			pid = int(w.pid)
		}
	}
	return pid
}

// writersGone waits until the holder's command and its daemon have ended.
func (c *contest) writersGone() {
	c.t.Helper()
	await.Until(c.t, patience, "the command and its daemon to end", func() bool {
		for w := range writersOf(c.t, c.files[0]) {
			if runs(int(w.pid)) {
				return false
			}
		}
		return true
	})
}

// runs reports whether there is a process that is no zombie.
func runs(pid int) bool {
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	_, state, _ := strings.Cut(string(stat), ") ")
	return err == nil && !strings.HasPrefix(state, "Z")
}

// letNextIn has the server forget every session, and answer.
func letNextIn(server *zktest.Server) {
	for _, s := range server.Sessions() { // by time they would end later; the waiter may have lost its own
		server.ExpireSession(s.ID)
	}
	server.Unfreeze()
}

// play has the holder lose the lock, and a waiter behind it get it, unless that comes too soon for any holder. All of
// the holder's command has to end.
func (c *contest) play(server *zktest.Server, l loss) {
	c.t.Helper()
	if !l.atOnce {
		c.contend(server)
	}
	if l.lose(c, server); l.freezes {
		server.Freeze()
	}
	c.holder.wantStatus(l.status)
	if l.freezes {
		letNextIn(server)
	}
	c.writersGone()
	if _, refused, _ := c.holder.seen("refused"); refused {
		c.t.Error("zklock says that it cannot end a process of the command")
	}
}

func TestSetuidProgramGainsNoPrivilegesAndEndsBeforeTheNextCommand(t *testing.T) {
	t.Parallel()
	for _, l := range losses {
		t.Run(l.name, func(t *testing.T) {
			t.Parallel()
			server := zktest.New(t, zktest.WithTickTime(100*time.Millisecond))
			c := newSetuidContest(t, server, short...)
			if pid := c.ofRoot(); pid != 0 {
				c.send(pid, syscall.SIGKILL) // zklock could not
				t.Fatalf("process %d of the command ran as root, want none", pid)
			}
			c.play(server, l)
			if !l.atOnce {
				t.Logf("%+v", c.judge())
			}
		})
	}
}

// A command that was allowed to gain privileges is ended when zklock notices that, and the lock is kept while a process
// of it lives.
func TestSetuidProgramThatIsAllowedKeepsTheLockWhileItLives(t *testing.T) {
	t.Parallel()
	server := zktest.New(t, zktest.WithTickTime(100*time.Millisecond))
	c := newSetuidContest(t, server, with(session, "-allow-setuid")...)
	c.contend(server)
	pid := c.ofRoot()
	refused := c.holder.await("refused")
	want := fmt.Sprintf("%d (setuid)", pid)
	if !slices.Equal(refused.Processes, []string{want}) || refused.Reason != "run zklock under sudo, not sudo under zklock" {
		t.Errorf("got the event %+v, want process %s and what to do", refused, want)
	}
	c.holder.await("exited") // the command, which can be ended, is
	if unended := c.holder.await("unended"); !slices.Equal(unended.Processes, []string{want}) {
		t.Errorf("got the event %+v, want process %s in it", unended, want)
	}
	if _, killed, _ := c.holder.seen("killed"); killed {
		t.Error("zklock reports that all is killed")
	}
	if got := len(server.Children("/locks/a")); got != 2 {
		t.Errorf("got %d nodes, want 2: the lock is kept while process %d lives", got, pid)
	}
	if !runs(pid) {
		t.Fatalf("process %d has ended", pid)
	}
	c.send(pid, syscall.SIGKILL)
	c.holder.wantStatus(76)
	if text := c.holder.errors(); !strings.Contains(text, "could not end PID "+want) {
		t.Errorf("zklock says %q, want the process that it could not end", text)
	}
	c.judge()
}

// The wait for a process that cannot be ended ends with a second signal. The lock is not released beside it.
func TestSecondSignalEndsZklockBesideWhatItCannotEnd(t *testing.T) {
	t.Parallel()
	server := zktest.New(t, zktest.WithTickTime(100*time.Millisecond))
	c := newSetuidContest(t, server, with(session, "-allow-setuid")...)
	pid := c.ofRoot()
	defer c.send(pid, syscall.SIGKILL)
	c.holder.await("unended")
	c.holder.signal(syscall.SIGINT)
	c.holder.await("kept")
	c.holder.signal(syscall.SIGTERM)
	c.holder.wantStatus(76)
	if beside := c.holder.await("beside"); !slices.Equal(beside.Processes, []string{fmt.Sprintf("%d (setuid)", pid)}) {
		t.Errorf("got the event %+v, want process %d in it", beside, pid)
	}
	if !runs(pid) {
		t.Errorf("process %d has ended", pid)
	}
	if c.session(server) == 0 || len(server.Children("/locks/a")) != 1 {
		t.Errorf("the lock was released beside process %d, want it kept until the session ends", pid)
	}
}

// While there is time, zklock says it before the next one is let in.
func TestLossBesideWhatCannotBeEndedNamesTheProcess(t *testing.T) {
	t.Parallel()
	for _, l := range losses {
		if l.status != 79 || l.keeps {
			continue // there is no zklock that could tell, or nothing is lost
		}
		t.Run(l.name, func(t *testing.T) {
			t.Parallel()
			server := zktest.New(t, zktest.WithTickTime(100*time.Millisecond))
			c := newSetuidContest(t, server, with(short, "-allow-setuid")...)
			pid := c.ofRoot()
			defer func() {
				_ = syscall.Kill(pid, syscall.SIGKILL)
			}()
			c.holder.await("refused")
			c.holder.await("unended")
			if l.lose(c, server); l.freezes {
				server.Freeze()
			}
			beside := c.holder.await("beside")
			if want := fmt.Sprintf("%d (setuid)", pid); !slices.Equal(beside.Processes, []string{want}) {
				t.Errorf("got the event %+v, want process %s in it", beside, want)
			}
			if !l.atOnce && *beside.Spare <= 0 {
				t.Errorf("zklock says it %v ms after the lease has ended, want before", -*beside.Spare)
			}
			if l.freezes {
				letNextIn(server)
			}
			c.send(pid, syscall.SIGKILL)
			c.holder.wantStatus(76)
		})
	}
}
