package web_test

import (
	"bufio"
	"context"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/gocurator/curator/examples/zklock/web"
	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/framework/zktest"
	"github.com/gocurator/curator/framework/zktest/await"
	"github.com/gocurator/curator/recipes/leader"
	"github.com/gocurator/curator/recipes/locks"
)

// site is a handler on a server of its own, with ZooKeeper in memory behind it. The options are its client's.
func site(t *testing.T, change func(*web.Options), opts ...framework.Option) (url string, client *framework.Client, zk *zktest.Server) {
	t.Helper()
	zk = zktest.New(t, zktest.WithContainerCheckInterval(time.Hour)) // a lock that is free stays there
	client, err := framework.NewClient(zk.Addr(), opts...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { client.Close() })
	options := web.Options{Client: client, Every: 10 * time.Millisecond}
	if change != nil {
		change(&options)
	}
	handler, err := web.New(options)
	if err != nil {
		t.Fatal(err)
	}
	server := httptest.NewServer(handler)
	t.Cleanup(server.Close)
	t.Cleanup(handler.Close) // before the server's, which waits for the streams
	return server.URL, client, zk
}

func hold(t *testing.T, client *framework.Client, path, who string) *locks.Lease {
	t.Helper()
	lease, err := locks.NewInterProcessMutex(client, path, locks.WithLockData([]byte(who))).Acquire(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return lease
}

// ask sends a request, and returns the status and the answer.
func ask(t *testing.T, method, url, body string, change func(*http.Request)) (int, string, http.Header) {
	t.Helper()
	request, err := http.NewRequestWithContext(t.Context(), method, url, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	if change != nil {
		change(request)
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	if response.Header.Get("Content-Type") == "text/event-stream" {
		return response.StatusCode, "(a stream)", response.Header // its body has no end
	}
	text, err := io.ReadAll(response.Body)
	if err != nil {
		t.Fatal(err)
	}
	return response.StatusCode, string(text), response.Header
}

// A stream reads events.
type stream struct {
	t     *testing.T
	lines *bufio.Scanner
	end   func()
}

func listen(t *testing.T, url string) *stream {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	t.Cleanup(cancel)
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		t.Fatal(err)
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { response.Body.Close() })
	if got := response.Header.Get("Content-Type"); got != "text/event-stream" {
		t.Fatalf("the events have type %q", got)
	}
	lines := bufio.NewScanner(response.Body)
	lines.Buffer(nil, 1<<24)
	return &stream{t, lines, cancel}
}

// until reads events until one is as wanted, for at most a minute, and returns its data.
func (s *stream) until(what string, wanted func(name, data string) bool) string {
	s.t.Helper()
	late := time.AfterFunc(time.Minute, s.end)
	defer late.Stop()
	name := ""
	for s.lines.Scan() {
		if rest, ok := strings.CutPrefix(s.lines.Text(), "event: "); ok {
			name = rest
		}
		if data, ok := strings.CutPrefix(s.lines.Text(), "data: "); ok && wanted(name, data) {
			return data
		}
	}
	if !late.Stop() {
		await.Fatalf(s.t, "an event in a minute: %s (%v)", what, s.lines.Err())
	}
	s.t.Fatalf("no event: %s (%v)", what, s.lines.Err())
	return ""
}

func TestStreamBeginsWithAllLocksAndTellsChanges(t *testing.T) {
	t.Parallel()
	url, client, _ := site(t, nil)
	hold(t, client, "/locks/a", "billing")
	events := listen(t, url+"/events")
	events.until("the lock and its holder", func(_, data string) bool {
		return strings.Contains(data, `{"path":"/locks/a","kind":"mutex","holders":1,"waiting":0,"who":"billing","since":`)
	})
	lease := hold(t, client, "/locks/b", "reports")
	events.until("a new lock", func(_, data string) bool { return strings.Contains(data, `"path":"/locks/b"`) })
	if err := lease.Release(); err != nil {
		t.Fatal(err)
	}
	events.until("a lock that is free", func(_, data string) bool { // a search for locks lists no empty ones
		return strings.Contains(data, `{"path":"/locks/b","kind":"mutex","holders":0,"waiting":0,"rate"`) ||
			strings.Contains(data, `"gone":["/locks/b"]`)
	})
}

func TestStreamOfALockShowsItsQueue(t *testing.T) {
	t.Parallel()
	url, client, _ := site(t, nil)
	lease := hold(t, client, "/locks/a", "billing <script>\x1b[2J")
	events := listen(t, url+"/events?lock=/locks/a")
	data := events.until("the queue", func(name, _ string) bool { return name == "lock" })
	var lock struct {
		Kind       string
		Contenders []struct{ State, Who string }
		Sessions   []string
		Recent     []struct{ What string }
	}
	if err := json.Unmarshal([]byte(data), &lock); err != nil {
		t.Fatal(err)
	}
	if len(lock.Contenders) != 1 || lock.Contenders[0].State != "holds" || lock.Contenders[0].Who != "billing <script>?[2J" ||
		len(lock.Sessions) != 1 || len(lock.Recent) != 0 {
		t.Errorf("got %+v", lock)
	}
	if err := lease.Release(); err != nil {
		t.Fatal(err)
	}
	events.until("that it left", func(_, data string) bool { return strings.Contains(data, `"what":"left"`) })
}

func TestHolderHasLeftAlsoIfTheServersRemovedTheEmptyDirectory(t *testing.T) {
	t.Parallel()
	url, client, zk := site(t, func(o *web.Options) { o.Every = time.Hour }) // it looks when a page is opened
	lease := hold(t, client, "/locks/a", "billing")
	first := listen(t, url+"/events?lock=/locks/a")
	first.until("the holder", func(name, data string) bool { return name == "lock" && strings.Contains(data, `"state":"holds"`) })
	if err := lease.Release(); err != nil {
		t.Fatal(err)
	}
	if err := zk.Delete("/locks/a"); err != nil {
		t.Fatal(err)
	}
	listen(t, url+"/events?lock=/locks/a")
	data := first.until("a look", func(name, data string) bool { return name == "lock" && !strings.Contains(data, `"state":"holds"`) })
	if !strings.Contains(data, `"what":"left"`) || strings.Contains(data, `"error"`) {
		t.Errorf("got %s, want that the holder left", data)
	}
}

// A look gives up when ten seconds have passed, and what was not answered by then is read again: on a busy machine more
// is sent than one read for each lock. So here a look has hours, its client's session outlasts a stall, and each look
// begins when a page is opened.
func TestOneReadALockAndLookSufficesForTheOverview(t *testing.T) {
	t.Parallel()
	const n = 1000
	long := framework.WithSessionTimeout(10 * time.Minute)
	url, client, zk := site(t, func(o *web.Options) { o.Every = time.Hour }, long)
	other, err := framework.NewClient(zk.Addr(), long)
	if err != nil {
		t.Fatal(err)
	}
	defer other.Close()
	for i := range n {
		hold(t, other, "/locks/"+string(rune('a'+i%26))+strings.Repeat("x", i/26), "w")
	}
	session, err := client.Session(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	// reads of contenders' nodes, of directories' counts, of directories' children
	var nodes, looks, searches atomic.Int64
	defer zk.Observe(func(r zktest.Request) {
		switch op := r.Op.String(); {
		case r.Session != session.ID():
		case op == "getData":
			nodes.Add(1)
		case op == "exists":
			looks.Add(1)
		case strings.HasPrefix(op, "getChildren"):
			searches.Add(1)
		}
	})()
	events := listen(t, url+"/events")
	look := func() (data string) {
		return events.until("a look", func(name, _ string) bool { return name == "delta" })
	}
	const enough = 20 // looks
	for looks, held := 1, 0; ; looks++ {
		if held += strings.Count(look(), `"who":"w"`); held == n { // each is sent once
			break
		} else if looks == enough {
			t.Fatalf("got %d holders after %d looks, want %d", held, looks, n)
		}
		listen(t, url+"/events").end()
	}
	if got := nodes.Load(); got != n {
		t.Errorf("got %d reads of contenders, want one for each of %d locks", got, n)
	}
	for _, count := range []*atomic.Int64{&nodes, &looks, &searches} {
		count.Store(0)
	}
	for range 12 {
		listen(t, url+"/events").end()
		data := look()
		var status struct {
			Reads int
			MS    float64
		}
		if err := json.Unmarshal([]byte(data), &status); err != nil || status.Reads != n {
			t.Errorf("a look took %d reads (%v), want one for each of %d locks", status.Reads, err, n)
		}
		t.Logf("%d reads in %.1f ms", status.Reads, status.MS)
	}
	if nodes.Load() > 0 {
		t.Errorf("the overview read %d nodes of contenders", nodes.Load())
	}
	if 2*searches.Load() > looks.Load() {
		t.Errorf("%d reads to find locks, for %d that look at them: the tree is searched too often", searches.Load(), looks.Load())
	}
}

func TestNothingIsReadWhileNoPageIsOpen(t *testing.T) {
	t.Parallel()
	url, client, zk := site(t, nil)
	if _, err := client.Session(t.Context()); err != nil {
		t.Fatal(err)
	}
	ask(t, http.MethodGet, url+"/", "", nil)
	var requests atomic.Int64
	stop := zk.Observe(func(r zktest.Request) {
		if r.Op.String() != "ping" && r.Op.String() != "multi" {
			requests.Add(1)
		}
	})
	time.Sleep(100 * time.Millisecond) // ten looks, if there were any
	stop()
	if got := requests.Load(); got > 0 {
		t.Errorf("%d requests, want none", got)
	}
}

func TestPageIsGuarded(t *testing.T) {
	t.Parallel()
	url, client, _ := site(t, func(o *web.Options) { o.User, o.Password = "me", "s3cret" })
	hold(t, client, "/locks/a", "billing")
	enter := func(r *http.Request) { r.SetBasicAuth("me", "s3cret") }
	for _, c := range []struct {
		name   string
		path   string
		change func(*http.Request)
		want   int
	}{
		{"the page", "/", enter, 200},
		{"its script", "/page.js", enter, 200},
		{"a lock", "/lock?path=/locks/a", enter, 200},
		{"a lock that is not there", "/lock?path=/locks/b", enter, 404},
		{"a wrong path", "/lock?path=locks", enter, 404},
		{"no password", "/", nil, 401},
		{"a wrong password", "/lock?path=/locks/a", func(r *http.Request) { r.SetBasicAuth("me", "secret") }, 401},
		{"another name for this server", "/", func(r *http.Request) { enter(r); r.Host = "evil.example:80" }, 403},
		{"another name, for events", "/events", func(r *http.Request) { enter(r); r.Host = "evil.example" }, 403},
		{"localhost", "/", func(r *http.Request) { enter(r); r.Host = "localhost:8420" }, 200},
		{"loopback of version 6", "/", func(r *http.Request) { enter(r); r.Host = "[::1]:8420" }, 200},
		{"what is not there", "/etc/passwd", enter, 404},
	} {
		got, text, header := ask(t, http.MethodGet, url+c.path, "", c.change)
		if got != c.want {
			t.Errorf("%s: status %d, want %d: %s", c.name, got, c.want, text)
		}
		if csp := header.Get("Content-Security-Policy"); !strings.Contains(csp, "default-src 'self'") {
			t.Errorf("%s: the policy is %q", c.name, csp)
		}
	}
}

func TestHandlerShowsNothingOutsideOfItsRoot(t *testing.T) {
	t.Parallel()
	url, client, _ := site(t, func(o *web.Options) { o.Root, o.HideData, o.Hosts = "/locks", true, []string{"127.0.0.1"} })
	hold(t, client, "/locks/a", "billing")
	hold(t, client, "/locksmith", "secret")
	for _, path := range []string{"/lock?path=/locksmith", "/events?lock=/locksmith", "/lock?path=/"} {
		if got, _, _ := ask(t, http.MethodGet, url+path, "", nil); got != http.StatusNotFound {
			t.Errorf("%s: status %d, want 404", path, got)
		}
	}
	if _, text, _ := ask(t, http.MethodGet, url+"/lock?path=/locks/a", "", nil); strings.Contains(text, "billing") {
		t.Errorf("data that is hidden is shown: %s", text)
	}
	if got, _, _ := ask(t, http.MethodGet, url+"/", "", func(r *http.Request) { r.Host = "localhost" }); got != http.StatusForbidden {
		t.Errorf("a name that is not in Hosts: status %d, want 403", got)
	}
}

func TestHoldersAreAskedToLeaveOnlyIfThatIsAllowed(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name    string
		allowed bool
		change  func(*http.Request)
		node    string // empty: the holder's
		want    int
	}{
		{"read only", false, nil, "", 403},
		{"allowed", true, nil, "", 200},
		{"another node", true, nil, "lock-0000000009", 409},
		{"from another site", true, func(r *http.Request) { r.Header.Set("Sec-Fetch-Site", "cross-site") }, "", 403},
		{"from another origin", true, func(r *http.Request) { r.Header.Set("Origin", "http://evil.example") }, "", 403},
	} {
		url, client, _ := site(t, func(o *web.Options) { o.AllowRevoke = c.allowed })
		lease := hold(t, client, "/locks/a", "billing")
		node := lease.NodeName()
		if c.node != "" {
			node = c.node
		}
		got, text, _ := ask(t, http.MethodPost, url+"/revoke", `{"path":"/locks/a","node":"`+node+`"}`, c.change)
		if got != c.want {
			t.Errorf("%s: status %d, want %d: %s", c.name, got, c.want, text)
		}
		if c.want == http.StatusOK {
			await.Receive(t, time.Minute, "the holder to be asked to leave: "+c.name, lease.RevocationRequested())
		}
	}
	url, client, _ := site(t, func(o *web.Options) { o.AllowRevoke = true })
	latch := leader.NewLeaderLatch(client, "/latch")
	if err := latch.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	participants, err := latch.Participants(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	node := strings.TrimPrefix(participants[0].Path, "/latch/")
	if got, _, _ := ask(t, http.MethodPost, url+"/revoke", `{"path":"/latch","node":"`+node+`"}`, nil); got != http.StatusConflict {
		t.Errorf("a latch: status %d, want 409", got)
	}
}

func TestSlowPageIsSentASnapshotAndHoldsUpNobody(t *testing.T) {
	t.Parallel()
	url, client, _ := site(t, func(o *web.Options) { o.Every = time.Millisecond })
	hold(t, client, "/locks/a", "billing")
	slow := listen(t, url+"/events") // it never reads
	quick := listen(t, url+"/events")
	for range 100 {
		quick.until("a look", func(name, _ string) bool { return name == "delta" })
	}
	slow.until("a snapshot", func(name, _ string) bool { return name == "snapshot" })
}

func TestCloseEndsStreams(t *testing.T) {
	t.Parallel()
	zk := zktest.New(t)
	client, err := framework.NewClient(zk.Addr())
	if err != nil {
		t.Fatal(err)
	}
	defer client.Close()
	handler, err := web.New(web.Options{Client: client})
	if err != nil {
		t.Fatal(err)
	}
	server := httptest.NewServer(handler)
	defer server.Close()
	events := listen(t, server.URL+"/events")
	events.until("a snapshot", func(name, _ string) bool { return name == "snapshot" })
	handler.Close()
	for events.lines.Scan() { // ends with the stream
	}
	if err := events.lines.Err(); err != nil {
		t.Errorf("the stream ended with %v", err)
	}
	if got, _, _ := ask(t, http.MethodGet, server.URL+"/events", "", nil); got != http.StatusServiceUnavailable {
		t.Errorf("a stream after Close: status %d, want 503", got)
	}
}
