//go:build unix

package main

import (
	"context"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
)

// patience is for what must happen, on a machine that is busy.
const patience = 3 * time.Minute

// itself are the hosts that Chromium asks for its own sake, whatever it shows and whatever its flags say.
var itself = []string{
	"accounts.google.com", "android.clients.google.com", "clients2.google.com", "content-autofill.googleapis.com", "mtalk.google.com",
	"optimizationguide-pa.googleapis.com", "redirector.gvt1.com", "safebrowsingohttpgateway.googleapis.com", "update.googleapis.com",
	"www.google.com",
}

// A browser shows pages without a screen.
type browser struct {
	t     *testing.T
	proxy *httptest.Server // all that is not on this machine is asked of it

	mu    sync.Mutex
	asked []string // the hosts of that, apart from the browser's own
}

func newBrowser(t *testing.T) *browser {
	b := &browser{t: t}
	b.proxy = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		b.mu.Lock()
		defer b.mu.Unlock()
		if host := (&url.URL{Host: r.Host}).Hostname(); !slices.Contains(itself, host) {
			b.asked = append(b.asked, host)
		}
		http.Error(w, "no", http.StatusForbidden)
	}))
	t.Cleanup(b.proxy.Close)
	return b
}

func (b *browser) hosts() []string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return slices.Clone(b.asked)
}

// command is a browser that shows an address. Snaps do not see what tests write.
func (b *browser) command(ctx context.Context, flags ...string) *exec.Cmd {
	b.t.Helper()
	for _, name := range []string{"chromium", "google-chrome", "google-chrome-stable"} {
		path, err := exec.LookPath(name)
		if err != nil || strings.HasPrefix(path, "/snap/") {
			continue
		}
		args := append([]string{
			"--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--no-first-run", "--disable-background-networking",
			"--disable-component-update", "--disable-sync", "--disable-extensions",
			"--user-data-dir=" + filepath.Join(b.t.TempDir(), "profile"), "--proxy-server=" + b.proxy.URL,
		}, flags...)
		cmd := exec.CommandContext(ctx, path, args...) //nolint:gosec // our own
		cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
		cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) } // it has many processes
		return cmd
	}
	b.t.Fatal("there is neither chromium nor google-chrome, apart from snaps")
	return nil
}

// dump returns a page of a directory as it is once its scripts have run, on a clock of its own.
func (b *browser) dump(dir, page, query string, flags ...string) string {
	b.t.Helper()
	ctx, cancel := context.WithTimeout(b.t.Context(), patience)
	defer cancel()
	address := url.URL{Scheme: "file", Path: filepath.ToSlash(filepath.Join(dir, page)), RawQuery: query}
	out, err := b.command(ctx, append(flags, "--virtual-time-budget=20000", "--dump-dom", address.String())...).Output()
	if err != nil {
		b.t.Fatal(err)
	}
	return string(out)
}

// run serves a directory, runs a script beside it in the browser, and decodes what the script returns. The script has
// show(address, width), which returns the document of a page in a frame, and until(document, test).
func (b *browser) run(files http.Handler, script string, result any) {
	b.t.Helper()
	results := make(chan error, 1)
	mux := http.NewServeMux()
	mux.Handle("/", files)
	mux.HandleFunc("/driver.html", func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte(driver + script + "</script>")) })
	mux.HandleFunc("/result", func(_ http.ResponseWriter, r *http.Request) { results <- json.NewDecoder(r.Body).Decode(result) })
	server := httptest.NewServer(mux)
	defer server.Close()
	ctx, cancel := context.WithTimeout(b.t.Context(), patience)
	cmd := b.command(ctx, "--remote-debugging-port=0", server.URL+"/driver.html") // the port keeps it running
	if err := cmd.Start(); err != nil {
		b.t.Fatal(err)
	}
	defer func() {
		cancel()
		_ = cmd.Wait()
	}()
	select {
	case err := <-results:
		if err != nil {
			b.t.Fatal(err)
		}
	case <-ctx.Done():
		b.t.Fatal("the script has not ended")
	}
}

const driver = `<!DOCTYPE html><body><script>
const show = (address, width) => new Promise((shown) => {
  const frame = document.createElement("iframe");
  Object.assign(frame, { width, height: 800, src: address, onload: () => shown(frame.contentDocument) });
  document.body.append(frame);
});
const until = (page, test) => new Promise((seen) => {
  const look = () => test() && (observer.disconnect(), seen());
  const observer = new MutationObserver(look);
  observer.observe(page, { attributes: true, characterData: true, childList: true, subtree: true });
  look();
});
const done = (value) => fetch("/result", { method: "POST", body: JSON.stringify(value) });
`
