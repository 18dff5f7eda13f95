//go:build unix

package web_test

import (
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/gocurator/curator/examples/zklock/web"
)

// A pipe that is never written to stands for a disk that does not answer.
func TestADirectoryThatHangsHoldsUpNoPage(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	pipe := filepath.Join(dir, "log.1")
	if err := syscall.Mkfifo(pipe, 0o600); err != nil {
		t.Fatal(err)
	}
	url, client, _ := site(t, func(o *web.Options) { o.Logs = []string{dir} })
	hold(t, client, "/locks/a", "billing")
	if got := past(t, url, "/locks/a"); !strings.HasPrefix(got.Reading, "the logs are being read, for ") || got.Failed != "" {
		t.Errorf("got %+v, want that the logs are being read", got)
	}
	if got := past(t, url, "/locks/b"); got.Reading != "the logs are being read for another lock" {
		t.Errorf("got %+v, want that they are being read for another lock", got)
	}
	if status, text, _ := ask(t, http.MethodGet, url+"/lock?path=/locks/a", "", nil); status != http.StatusOK || !strings.Contains(text, "billing") {
		t.Errorf("got status %d and %q for the lock's queue, want its holder", status, text)
	}
	held := listen(t, url+"/events?lock=/locks/a")
	held.until("the queue", func(name, data string) bool { return name == "lock" && strings.Contains(data, "billing") })
	moved := filepath.Join(dir, "pipe") // it is not opened again
	if err := os.Rename(pipe, moved); err != nil {
		t.Fatal(err)
	}
	writer, err := os.OpenFile(moved, os.O_RDWR, 0) // the reading goes on, also if it opens the pipe only now
	if err != nil {
		t.Fatal(err)
	}
	writer.Close()
	until(t, url, "/locks/b", func(p web.Past) bool { return p.Failed != "" || strings.Contains(p.Reading, "again in") })
}
