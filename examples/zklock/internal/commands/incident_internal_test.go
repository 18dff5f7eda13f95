package commands

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/gocurator/curator/examples/zklock/holds/records"
	"github.com/gocurator/curator/examples/zklock/txnlog/logtest"
	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/framework/zktest"
	"github.com/gocurator/curator/recipes/locks"
)

// An incident is a lock that its first holder loses when it is cut off, and its last one when its node is deleted by
// hand. It leaves the server's logs, and a file of records of each process.
type incident struct {
	t      *testing.T
	dir    string
	server *zktest.Server
	lock   string
}

// A worker is a process of an incident.
type worker struct {
	link  *zktest.Link
	mutex *locks.InterProcessMutex
	recording
}

// A recording is a file of records, and what closes it.
type recording struct{ close func() }

func (i *incident) worker(name string) *worker {
	i.t.Helper()
	file, err := records.OpenFile(filepath.Join(i.dir, strings.Fields(name)[0]+".ndjson"), 1<<20)
	if err != nil {
		i.t.Fatal(err)
	}
	time.Sleep(time.Millisecond) // the clock of each is its own
	w := &worker{link: i.server.NewLink()}
	client, err := framework.NewClient("zk1:2181", framework.WithDialer(w.link.DialContext), framework.WithSessionTimeout(10*time.Second))
	if err != nil {
		i.t.Fatal(err)
	}
	r := records.NewRecorder(file, "")
	w.mutex = locks.NewInterProcessMutex(client, i.lock, locks.WithLockData([]byte(name)), locks.WithTrace(r.Trace(locks.Trace{})))
	w.close = func() {
		_ = client.Close() // one is cut off
		if err := r.Close(); err != nil {
			i.t.Error(err)
		}
		file.Close()
	}
	return w
}

func (i *incident) acquire(w *worker) *locks.Lease {
	i.t.Helper()
	lease, err := w.mutex.Acquire(i.t.Context())
	if err != nil {
		i.t.Fatal(err)
	}
	return lease
}

// happen lets it happen.
func (i *incident) happen() {
	billing, reports, archive := i.worker("billing at host7"), i.worker("reports at host9"), i.worker("archive at host3")
	lost := i.acquire(billing)
	done := make(chan struct{})
	go func() {
		defer close(done)
		time.Sleep(2 * time.Second)
		err := locks.Do(i.t.Context(), reports.mutex, func(context.Context) error {
			time.Sleep(4 * time.Second)
			return nil
		})
		if err != nil {
			i.t.Error(err)
		}
	}()
	time.Sleep(5 * time.Second)
	billing.link.Cut()
	removed := i.acquire(archive)
	<-done
	<-lost.Done()
	time.Sleep(time.Second)
	if err := i.server.Delete(i.lock + "/" + removed.NodeName()); err != nil {
		i.t.Error(err)
	}
	<-removed.Done()
	synctest.Wait()
	for _, w := range []*worker{billing, reports, archive} {
		w.close()
	}
}

// session prints commands as a shell does, with what they print.
func (i *incident) session(commands ...string) string {
	var out strings.Builder
	for n, command := range commands {
		if n > 0 {
			out.WriteString("\n")
		}
		args := strings.Fields(command)
		for k, arg := range args {
			if strings.HasSuffix(arg, ".ndjson") || arg == "version-2" {
				args[k] = filepath.Join(i.dir, arg)
			}
		}
		var printed, errs bytes.Buffer
		status := readHistory(args[2:], &printed, &errs)
		fmt.Fprintf(&out, "$ %s\n%s%s", command, printed.String(), errs.String())
		if status != 0 {
			fmt.Fprintf(&out, "$ echo $?\n%d\n", status)
		}
	}
	return out.String()
}

// masks are what differs from run to run.
var masks = []struct {
	pattern *regexp.Regexp
	by      string
}{
	{regexp.MustCompile(`\d{4}-\d\d-\d\d \d\d:\d\d:\d\d\.\d{3}`), "DATE"},
	{regexp.MustCompile(`\d\d:\d\d:\d\d\.\d{3}`), "TIME"},
	{regexp.MustCompile(`0x[0-9a-f]{10,}`), "SESSION"},
	{regexp.MustCompile(`\([\w.-]+/\d+/\d+/[A-Z0-9]+\)`), "(PROCESS)"},
	{regexp.MustCompile(`\b\d+(\.\d+)?s\b`), "DURATION"},
	{regexp.MustCompile(`\d+ +SESSION`), "TOKEN SESSION"},
	{regexp.MustCompile(`token \d+`), "token TOKEN"},
	{regexp.MustCompile(` +`), " "}, // columns are as wide as what they have
}

func masked(text string) string {
	for _, m := range masks {
		text = m.pattern.ReplaceAllString(text, m.by)
	}
	return text
}

func TestRunbookShowsAnIncidentAsItIs(t *testing.T) {
	zktest.Bubble(t, func(t *testing.T) {
		i := &incident{t: t, dir: t.TempDir(), server: zktest.New(t), lock: "/locks/nightly"}
		logtest.Keep(t, i.server, i.dir)
		i.happen()
		want := i.session(
			"zklock history version-2 /locks/nightly",
			"zklock history -longest 1 version-2 /locks/nightly",
			"zklock history -check billing.ndjson -check reports.ndjson -check archive.ndjson version-2 /locks/nightly",
		)
		page, err := os.ReadFile("../../../runbook/README.md")
		if err != nil {
			t.Fatal(err)
		}
		_, after, _ := strings.Cut(string(page), "## After an incident\n")
		_, after, _ = strings.Cut(after, "\n```console\n")
		shown, _, found := strings.Cut(after, "```\n")
		if !found || masked(shown) != masked(want) {
			t.Errorf("the runbook shows, with masks,\n%s\nwant\n%s\nwhich is\n%s", masked(shown), masked(want), want)
		}
	})
}
