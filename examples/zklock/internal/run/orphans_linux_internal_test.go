//go:build linux

package run

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"testing"
)

// fakeProc is a directory with processes in it, the test's own among them.
type fakeProc struct {
	t   *testing.T
	dir string
}

func (f fakeProc) add(pid, parent int, state, space, environ string, start int) {
	f.t.Helper()
	dir := filepath.Join(f.dir, fmt.Sprint(pid))
	stat := fmt.Sprintf("%d (job) %s %d 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 %d 0 0", pid, state, parent, start)
	if err := errors.Join(
		os.MkdirAll(filepath.Join(dir, "ns"), 0o700),
		os.WriteFile(filepath.Join(dir, "stat"), []byte(stat), 0o600),
		os.WriteFile(filepath.Join(dir, "environ"), []byte(environ), 0o600),
		os.Symlink(space, filepath.Join(dir, "ns", "pid")),
	); err != nil {
		f.t.Fatal(err)
	}
}

func TestOrphansAreFoundAmongAllProcesses(t *testing.T) {
	const here, keptByTheGone = "pid:[1]", "ZKLOCK_HELD=/a\x00ZKLOCK_KEEPERS=1001.5-1002.5@zk1%3A2181\x00"
	f := fakeProc{t, t.TempDir()}
	self := os.Getpid()
	f.add(self, 2000001, "R", here, keptByTheGone, 9)
	f.add(2000001, 0, "S", here, keptByTheGone, 9)
	f.add(1001, 0, "S", here, "", 6) // another process has the number of the front
	f.add(1002, 0, "Z", here, "", 5) // the keeper was killed, and not reaped
	f.add(2000002, 0, "S", here, keptByTheGone, 9)
	f.add(2000003, 0, "Z", here, keptByTheGone, 9)
	f.add(2000004, 0, "S", "pid:[2]", keptByTheGone, 9)
	f.add(2000005, 0, "S", here, "ZKLOCK_HELD=/b\x00ZKLOCK_KEEPERS=1001.5-1002.5@zk1%3A2181\x00", 9)
	f.add(2000006, 0, "S", here, "ZKLOCK_HELD=/a\x00ZKLOCK_KEEPERS=1001.6-1002.5@zk1%3A2181\x00", 9)
	f.add(2000007, 0, "S", here, "ZKLOCK_HELD=/a\x00ZKLOCK_KEEPERS=1001.5-1002.5@zk2%3A2181\x00", 9)
	var got []int
	for _, p := range procfs(f.dir).orphans("zk1", []string{"/a", "/c"}) {
		got = append(got, p.pid)
	}
	if want := []int{2000002}; !slices.Equal(got, want) {
		t.Errorf("got processes %v, want %v: not this one and those above, no zombie, none of another container, path, keeper or servers", got, want)
	}
	if got := procfs(filepath.Join(f.dir, "missing")).orphans("zk1", []string{"/a"}); got != nil {
		t.Errorf("got %v from no directory", got)
	}
}

func TestThisProcessLives(t *testing.T) {
	one, ok := identify(os.Getpid())
	if !ok || !proc.lives(one) {
		t.Errorf("got %v, %v, want this process, which lives", one, ok)
	}
	one.start++
	if proc.lives(one) {
		t.Error("a process that began at another time is taken for this one")
	}
	for _, line := range []string{"", "12 (a) S 1 2", ")", "1 (x) S 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 y"} {
		if start, ok := parseStart([]byte(line)); ok {
			t.Errorf("%q: got %d, want it refused", line, start)
		}
	}
}
