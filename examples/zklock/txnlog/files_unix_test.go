//go:build unix

package txnlog_test

import (
	"path/filepath"
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
