//go:build linux

package zklock_test

import (
	"context"
	"flag"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/gocurator/curator/examples/programs"
	"github.com/gocurator/curator/examples/programs/browsertest"
	"github.com/gocurator/curator/examples/programs/process"
	"github.com/gocurator/curator/examples/zklock/txnlog/logtest"
	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/framework/zktest"
)

var (
	pageLocks   = flag.Int("page-locks", 150, "how many locks TestLongListsAreCutInARealBrowser shows")
	pageWaiters = flag.Int("page-waiters", 150, "how many waiters one of them has")
)

// browse opens a page of zklock serve in a real browser.
func browse(t *testing.T, servers string, flags ...string) (page *browsertest.Page, url string, site *process.Process) {
	t.Helper()
	if os.Getenv("CURATOR_INTEGRATION") == "" {
		t.Skip("CURATOR_INTEGRATION is not set")
	}
	path, err := browsertest.Find()
	if err != nil {
		lacking(t, err)
	}
	site = process.Start(t, program, with([]string{"serve", "-listen", "127.0.0.1:0", "-zk", servers}, flags...)...)
	t.Cleanup(func() {
		site.Signal(syscall.SIGCONT)
		site.Signal(syscall.SIGTERM)
		site.Wait()
	})
	url = site.Await("http://")
	page = browsertest.Start(t, path)
	t.Cleanup(func() {
		if problems := page.Problems(); len(problems) > 0 {
			t.Errorf("the page's scripts threw %q", problems)
		}
	})
	return page, url, site
}

// colour is an expression for the colour of the bar over a contender.
func colour(selector string) string {
	return fmt.Sprintf("getComputedStyle(document.querySelector(%q)).borderTopColor", selector)
}

func TestPageShowsLocksInARealBrowser(t *testing.T) {
	t.Parallel()
	server := zktest.New(t)
	page, url, _ := browse(t, server.Addr())
	holder, waiter := connect(t, server.Addr()), connect(t, server.Addr())
	for path, data := range map[string]string{
		"/locks/nightly/" + lockName(0): "billing <b>", "/locks/nightly/" + lockName(1): "reports", "/locks/other/" + lockName(0): "archive",
	} {
		client := holder
		if data == "reports" {
			client = waiter
		}
		contend(t, client, path, data)
	}
	page.Open(url)
	page.Until("both locks", "document.querySelectorAll('#rows tr').length === 2")
	page.Until("the holder", "document.querySelector('#rows tr').innerText.includes('billing <b>')")
	first := page.Text("#rows tr")
	for _, want := range []string{"/locks/nightly", "mutex", "\t1\t"} {
		if !strings.Contains(first, want) {
			t.Errorf("got %q as the first row, want %q in it: the lock that has a waiter", first, want)
		}
	}
	page.Until("how old that is", "/^as of \\d+s ago$/.test($('age').textContent) && $('age').className === ''")
	page.Until("a line for the last minute", "document.querySelector('#rows polyline').getAttribute('points').split(' ').length > 2")
	_, _ = page.Eval("$('filter').value = 'ARCHIVE'; draw()")
	if got := page.Text("#rows"); !strings.HasPrefix(got, "/locks/other") {
		t.Errorf("got %q with a filter for the holder, want /locks/other alone", got)
	}
	_, _ = page.Eval("$('filter').value = ''; document.querySelector('th[data-sort=path]').click()")
	if got := page.Text("#rows tr:last-child"); !strings.HasPrefix(got, "/locks/other") {
		t.Errorf("got %q as the last row by path, want /locks/other", got)
	}
	page.Open(url + "/#%2Flocks%2Fnightly")
	page.Until("the queue", "document.querySelectorAll('#lane li').length === 2")
	for selector, want := range map[string]string{"#lane li:first-child": "rgb(42, 157, 74)", "#lane li:last-child": "rgb(201, 138, 0)"} {
		if got, err := page.Eval(colour(selector)); err != nil || got != want {
			t.Errorf("%s: got a bar of %s, %v, want %s", selector, got, err, want)
		}
	}
	if got := page.Text("#summary") + "; " + page.Text("#recent"); got != "mutex: 1 hold, 1 wait; " {
		t.Errorf("got %q, want who holds and waits, and no events: nothing has come since the page looks", got)
	}
	page.Open("about:blank")
	page.Open(url + "/#%")
	page.Until("the list at an address that says nothing", "typeof rows === 'object' && document.querySelectorAll('#rows tr').length === 2")
	page.Open(url + "/#!findings")
	page.Until("the server", fmt.Sprintf("$('found').innerText.includes(%q)", server.Addr()+": ZooKeeper"))
	page.Until("the locks", "$('found').innerText.includes('2 locks were looked at')")
}

func TestPageShowsTheLastHourInARealBrowser(t *testing.T) {
	t.Parallel()
	server, dir := zktest.New(t), t.TempDir()
	logtest.Keep(t, server, dir)
	page, url, _ := browse(t, server.Addr(), "-log", dir)
	holder, waiter := connect(t, server.Addr()), connect(t, server.Addr())
	contend(t, holder, "/locks/nightly/"+lockName(0), "billing <b>")
	contend(t, waiter, "/locks/nightly/"+lockName(1), "reports")
	page.Open(url + "/#%2Flocks%2Fnightly")
	page.Until("a lane for each client", "document.querySelectorAll('#lanes tr').length === 2")
	if got := page.Text("#lanes"); !strings.Contains(got, "billing <b>") || !strings.Contains(got, "1 × held") || !strings.Contains(got, "0 × held") {
		t.Errorf("got the lanes %q, want who held, and who did not", got)
	}
	for selector, want := range map[string]string{"#lanes tr:last-child rect": "rgb(42, 157, 74)", "#lanes tr:first-child rect": "rgb(201, 138, 0)"} {
		if got, err := page.Eval(fmt.Sprintf("getComputedStyle(document.querySelector(%q)).fill", selector)); err != nil || got != want {
			t.Errorf("%s: got a bar of %s, %v, want %s", selector, got, err, want)
		}
	}
	if got := page.Text("#span"); !strings.Contains(got, "by the servers' logs") {
		t.Errorf("got %q, want of which time that is", got)
	}
	page.Open("about:blank")
	without, url, _ := browse(t, server.Addr(), "-log", filepath.Join(dir, "nowhere"))
	without.Open(url + "/#%2Flocks%2Fnightly")
	without.Until("why there is no past", "$('span').className === 'failed' && $('span').textContent.includes('nowhere')")
	without.Until("the queue all the same", "document.querySelectorAll('#lane li').length === 2")
}

func lockName(n int) string {
	return fmt.Sprintf("_c_ba785fd9-44cb-4a14-8cfd-2b3b5c2badb3-lock-%010d", n)
}

// contend makes the node of a contender.
func contend(t *testing.T, client *framework.Client, path, data string) {
	t.Helper()
	_, _, err := client.Create(t.Context(), path, []byte(data), framework.WithMode(framework.Ephemeral), framework.CreatingParentsIfNeeded())
	if err != nil {
		t.Error(err)
	}
}

// The page stays open while the servers freeze, come back, die and are started again, and while zklock serve is
// stopped.
func TestPageTellsAnOutageInARealBrowser(t *testing.T) {
	t.Parallel()
	binary := filepath.Join(t.TempDir(), "testserver")
	if output, err := programs.GoBuild(t.Context(), "-o", binary, "github.com/gocurator/curator/examples/testserver").CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, output)
	}
	free, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	address := free.Addr().String()
	free.Close()
	server := serveZooKeeper(t, binary, address)
	page, url, site := browse(t, address, "-session", "4s")
	contend(t, connect(t, address), "/locks/nightly/"+lockName(0), "billing")
	for _, view := range []string{"/", "/#%2Flocks%2Fnightly"} {
		page.Open("about:blank")
		page.Open(url + view)
		fresh := "$('age').className === '' && /^as of \\d+s ago$/.test($('age').textContent)"
		page.Until("a fresh look", fresh)
		page.Until("the holder", "document.body.innerText.includes('billing')")

		server.Signal(syscall.SIGSTOP)
		page.Until("that what it shows is old", "$('age').className === 'stale' && document.title === '! zklock'")
		if got, want := page.Text("#age"), "who holds by now is not known"; !strings.Contains(got, want) {
			t.Errorf("%s: got %q, want %q in it", view, got, want)
		}
		page.Until("that no server answers", "/no server|not connected/.test($('age').textContent)")
		server.Signal(syscall.SIGCONT)
		page.Until("a fresh look after the server goes on", fresh)

		site.Signal(syscall.SIGSTOP)
		page.Until("that zklock serve stands still", "$('age').className === 'stale' && $('age').textContent.includes('zklock serve does not answer')")
		site.Signal(syscall.SIGCONT)
		page.Until("a fresh look after zklock serve goes on", fresh)
	}
	page.Open("about:blank")
	page.Open(url)
	page.Until("a look", "$('age').className === ''")
	server.Signal(syscall.SIGKILL)
	page.Until("that the server is dead", "$('age').className === 'stale' && /refused|no server/.test($('age').textContent)")
	server = serveZooKeeper(t, binary, address)
	page.Until("a fresh look at another server", "$('age').className === ''")
	page.Until("that the lock has gone", "!$('empty').hidden")
	_ = server
}

// A proxy answers by itself while zklock serve is away. A browser does not ask for a stream again that was answered so.
func TestPageComesBackThroughAProxyInARealBrowser(t *testing.T) {
	t.Parallel()
	server := zktest.New(t)
	page, direct, _ := browse(t, server.Addr())
	contend(t, connect(t, server.Addr()), "/locks/nightly/"+lockName(0), "billing")
	to, err := url.Parse(direct)
	if err != nil {
		t.Fatal(err)
	}
	var away atomic.Bool
	var mu sync.Mutex
	var streams []context.CancelFunc
	behind := httputil.NewSingleHostReverseProxy(to)
	proxy := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if away.Load() {
			http.Error(w, "nothing is there", http.StatusBadGateway)
			return
		}
		ctx, cancel := context.WithCancel(r.Context())
		defer cancel()
		mu.Lock()
		streams = append(streams, cancel)
		mu.Unlock()
		behind.ServeHTTP(w, r.WithContext(ctx))
	}))
	defer func() { // a stream has no end
		proxy.CloseClientConnections()
		proxy.Close()
	}()
	page.Open(proxy.URL)
	page.Until("a fresh look", "$('age').className === '' && document.body.innerText.includes('billing')")
	away.Store(true)
	_, _ = page.Eval("location.hash = '!findings'")
	page.Until("why there are no findings", "$('examined').textContent.includes('502 Bad Gateway')")
	_, _ = page.Eval("location.hash = ''")
	mu.Lock()
	for _, cut := range streams {
		cut()
	}
	mu.Unlock()
	page.Until("that the stream has ended for good", "source.readyState === EventSource.CLOSED")
	page.Until("that this is the list again", "!$('overview').hidden")
	away.Store(false)
	page.Until("a stream", "source.readyState === EventSource.OPEN")
	page.Until("a fresh look after the proxy has found it again", "$('age').className === '' && Date.now() - heard < 1000")
}

// serveZooKeeper starts a server in memory as a process of its own.
func serveZooKeeper(t *testing.T, binary, address string) *process.Process {
	t.Helper()
	p := process.Start(t, binary, "-listen", address)
	p.Await(address)
	t.Cleanup(func() { p.Signal(syscall.SIGCONT) })
	return p
}

// A phone is 390 pixels wide.
func TestPageFitsOnAPhoneInARealBrowser(t *testing.T) {
	t.Parallel()
	server := zktest.New(t)
	page, url, _ := browse(t, server.Addr())
	client := connect(t, server.Addr())
	for i := range 3 {
		contend(t, client, "/locks/a-long-name-of-a-lock-that-is-about-something/"+lockName(i), "somebody@a-machine-with-a-long-name.example.org 12345 backup")
	}
	page.Size(390, 800)
	for view, shown := range map[string]string{
		"/": "document.querySelector('#rows tr').innerText.includes('backup')",
		"/#%2Flocks%2Fa-long-name-of-a-lock-that-is-about-something": "document.querySelectorAll('#lane li').length === 3",
		"/#!findings": "document.querySelectorAll('#found li').length > 0",
	} {
		page.Open("about:blank")
		page.Open(url + view)
		page.Until("what "+view+" shows", "typeof $ === 'function' && "+shown)
		if got, err := page.Eval("document.documentElement.scrollWidth"); err != nil || got != "390" {
			t.Errorf("%s: got a page %s pixels wide (%v), want 390", view, got, err)
		}
	}
}

// With -page-locks 1000 -page-waiters 10000 it measures what README.md says.
func TestLongListsAreCutInARealBrowser(t *testing.T) {
	t.Parallel()
	server := zktest.New(t)
	page, url, _ := browse(t, server.Addr())
	client := connect(t, server.Addr())
	var group errgroup.Group
	group.SetLimit(64)
	for i := range *pageLocks {
		group.Go(func() error { contend(t, client, fmt.Sprintf("/locks/%04d/%s", i, lockName(0)), "billing"); return nil })
	}
	for i := range *pageWaiters {
		group.Go(func() error { contend(t, client, "/locks/0000/"+lockName(i+1), fmt.Sprint("waiter ", i)); return nil })
	}
	_ = group.Wait()
	const most = 100
	for view, items := range map[string]string{"/": "#rows tr", "/#%2Flocks%2F0000": "#lane li"} {
		page.Open("about:blank")
		page.Open(url + view)
		page.Until("a hundred of "+items, fmt.Sprintf("typeof $ === 'function' && document.querySelectorAll(%q).length === %d", items, most))
		page.Until("how many there are more", fmt.Sprintf("document.body.innerText.includes('and %d more')",
			map[string]int{"/": *pageLocks - most, "/#%2Flocks%2F0000": *pageWaiters + 1 - most}[view]))
		if view == "/" {
			page.Until("all rows", fmt.Sprintf("[...rows.values()].filter(r => r.who).length === %d", *pageLocks))
		}
		received, busy, begun := page.Received(), page.Busy(), time.Now()
		page.Until("fifteen seconds", fmt.Sprintf("Date.now() >= %d", begun.Add(window()).UnixMilli()))
		passed := time.Since(begun)
		height, _ := page.Eval("document.documentElement.scrollHeight")
		t.Logf("%s: %d locks, %d waiters: %v of the main thread and %d bytes in %v, %s pixels high", view, *pageLocks, *pageWaiters,
			(page.Busy() - busy).Round(time.Millisecond), page.Received()-received, passed.Round(time.Second), height)
		if got, most := page.Received()-received, int64(passed/time.Second+5)*2000; got > most {
			t.Errorf("%s: got %d bytes in %v although nothing has changed, want at most %d", view, got, passed, most)
		}
	}
}

// window is how long TestLongListsAreCutInARealBrowser measures: its figures are of fifteen seconds.
func window() time.Duration {
	if *pageWaiters >= 1000 {
		return 15 * time.Second
	}
	return 3 * time.Second
}
