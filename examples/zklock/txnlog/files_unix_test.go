//go:build unix

package txnlog_test

import (
	"path/filepath"
	"runtime/debug"
	"syscall"
	"testing"

	"github.com/gocurator/curator/examples/zklock/txnlog"
)

// A pipe waits for its other end.
func TestFilesThatAreNoneAreNotOpened(t *testing.T) {
	dir := write(t, map[string][]byte{"log.1": logOf(made(1, 7, "/a"))})
	for _, name := range []string{"log.2", "snapshot.0"} {
		if err := syscall.Mkfifo(filepath.Join(dir, name), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	got, log := replayed(t, "/", dir)
	wantLines(t, "a pipe", got, "1 Created /a of 7")
	wantNotes(t, "a pipe", log, "snapshot.0: p", "log.2: p")
	if _, err := txnlog.Read(dir); err == nil {
		t.Error("got no error of Read")
	}
}

func TestOpenClosesItsFiles(t *testing.T) {
	defer debug.SetGCPercent(debug.SetGCPercent(-1)) // it would close them
	dir := write(t, map[string][]byte{"log.1": logOf(made(1, 7, "/a")), "log.2": logOf(made(2, 7, "/b")), "snapshot.1": snapshotOf()})
	free := func() int { // the lowest descriptor that is
		fd, err := syscall.Open(dir, syscall.O_RDONLY, 0)
		if err != nil {
			t.Fatal(err)
		}
		_ = syscall.Close(fd)
		return fd
	}
	before := free()
	replayed(t, "/", dir)
	if after := free(); after != before {
		t.Errorf("got %d files more open than before, want none", after-before)
	}
}
