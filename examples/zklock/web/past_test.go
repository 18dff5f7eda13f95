package web_test

import (
	"context"
	"encoding/json"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/gocurator/curator/examples/zklock/txnlog/logtest"
	"github.com/gocurator/curator/examples/zklock/web"
)

// past asks for the past of a lock.
func past(t *testing.T, url, lock string) (p web.Past) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), slow)
	defer cancel()
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, url+"/history?path="+lock, http.NoBody)
	if err != nil {
		t.Fatal(err)
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	if err := json.NewDecoder(response.Body).Decode(&p); err != nil || response.StatusCode != http.StatusOK {
		t.Fatalf("got status %d and %v, want the past", response.StatusCode, err)
	}
	return p
}

func TestPastOfALockIsThatOfTheServersLogs(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	url, client, zk := site(t, func(o *web.Options) { o.Logs = []string{dir} })
	logtest.Keep(t, zk, dir)
	first := hold(t, client, "/locks/a", "billing")
	if err := first.Release(); err != nil {
		t.Fatal(err)
	}
	second := hold(t, client, "/locks/a", "reports <b>")
	hold(t, client, "/locks/a/below", "another lock")
	got := until(t, url, "/locks/a", isRead)
	if len(got.Contenders) != 2 || got.Failed+got.Reading != "" || got.To.Before(got.From) {
		t.Fatalf("got %+v, want two contenders", got)
	}
	one, other := got.Contenders[0], got.Contenders[1]
	if one.Who != "billing" || one.Token != first.FencingToken() || one.How != "released" || one.LetIn.IsZero() || one.Ended.Before(one.LetIn) {
		t.Errorf("got %+v, want what was released", one)
	}
	if other.Who != "reports <b>" || other.Token != second.FencingToken() || other.How != "" || !other.Ended.IsZero() {
		t.Errorf("got %+v, want what holds", other)
	}
	if got := until(t, url, "/locks/b", isRead); len(got.Contenders) > 0 || got.Failed != "" || got.To.IsZero() {
		t.Errorf("got %+v, want no contender, and until when", got)
	}
}

func TestPastHidesWhatIsToBeHidden(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	url, client, zk := site(t, func(o *web.Options) { o.Logs, o.HideData, o.Root = []string{dir}, true, "/locks" })
	logtest.Keep(t, zk, dir)
	hold(t, client, "/locks/a", "secret")
	if got := until(t, url, "/locks/a", isRead); len(got.Contenders) != 1 || got.Contenders[0].Who != "(hidden)" {
		t.Errorf("got %+v, want a contender without its data", got)
	}
	if status, _, _ := ask(t, http.MethodGet, url+"/history?path=/other", "", nil); status != http.StatusNotFound {
		t.Errorf("got status %d for a lock outside of the root, want 404", status)
	}
}

func TestPastSaysWhyThereIsNone(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	file := filepath.Join(dir, "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for logs, want := range map[string]string{
		filepath.Join(dir, "nowhere"): "find the logs", dir: "find the logs", file: "not a directory",
	} {
		url, _, _ := site(t, func(o *web.Options) { o.Logs = []string{logs} })
		if got := until(t, url, "/locks/a", isRead); !strings.Contains(got.Failed, want) {
			t.Errorf("%s: got %+v, want %q", logs, got, want)
		}
	}
	url, _, _ := site(t, nil)
	if status, _, _ := ask(t, http.MethodGet, url+"/history?path=/locks/a", "", nil); status != http.StatusNotFound {
		t.Errorf("got status %d without logs, want 404", status)
	}
}

// What is damaged is named, and the rest is shown.
func TestPastNamesWhatIsDamaged(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	url, client, zk := site(t, func(o *web.Options) { o.Logs = []string{dir} })
	logtest.Keep(t, zk, dir)
	hold(t, client, "/locks/a", "billing")
	logs, err := filepath.Glob(filepath.Join(dir, "version-2", "log.*"))
	if err != nil || len(logs) != 1 {
		t.Fatal(logs, err)
	}
	file, err := os.OpenFile(logs[0], os.O_APPEND|os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := file.WriteString(strings.Repeat("garbage ", 20)); err != nil {
		t.Fatal(err)
	}
	file.Close()
	got := until(t, url, "/locks/a", isRead)
	if len(got.Contenders) != 1 || !slices.ContainsFunc(got.Notes, func(n string) bool { return strings.Contains(n, logs[0]) }) {
		t.Errorf("got %+v, want the holder, and a note on %s", got, logs[0])
	}
}

// slow is how long an answer may take: a request that blocks fails its test.
const slow = 30 * time.Second

// isRead reports whether the logs have been read for it.
func isRead(p web.Past) bool { return p.Reading == "" }

// until asks for the past until it is as wanted.
func until(t *testing.T, url, lock string, wanted func(web.Past) bool) web.Past {
	t.Helper()
	for begun := time.Now(); ; {
		got := past(t, url, lock)
		if wanted(got) {
			return got
		}
		if time.Since(begun) > slow {
			t.Fatalf("got %+v after %v", got, slow)
		}
	}
}
