package web_test

import (
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/gocurator/curator/examples/zklock/web"
	"github.com/gocurator/curator/framework/zktest"
	"github.com/gocurator/curator/framework/zktest/await"
)

// A heard status is what each message of a stream has.
type heardStatus struct {
	Now, Fresh, Timeout int64
	Failed              string
}

func (s *stream) untilStatus(what string, wanted func(heardStatus) bool) (got heardStatus) {
	s.t.Helper()
	s.until(what, func(name, data string) bool {
		got = heardStatus{}
		return name != "lock" && json.Unmarshal([]byte(data), &got) == nil && wanted(got)
	})
	return got
}

func TestStreamTellsAnOutageAndItsEnd(t *testing.T) {
	t.Parallel()
	url, client, zk := site(t, nil)
	hold(t, client, "/locks/a", "billing")
	events := listen(t, url+"/events")
	before := events.untilStatus("a look", func(s heardStatus) bool { return s.Fresh > 0 && s.Timeout > 0 })
	zk.RefuseConnections(true)
	zk.Restart()
	old := events.untilStatus("that no server answers", func(s heardStatus) bool { return s.Failed != "" && s.Now-s.Fresh > 1000 })
	if old.Fresh < before.Fresh || old.Timeout != before.Timeout {
		t.Errorf("got %+v in the outage, want as before it: %+v", old, before)
	}
	zk.RefuseConnections(false)
	events.untilStatus("a look after the outage", func(s heardStatus) bool { return s.Failed == "" && s.Fresh > old.Fresh })
}

// A server that is frozen keeps its connections, and says nothing.
func TestStreamOfAFrozenServerTellsItsAge(t *testing.T) {
	t.Parallel()
	url, client, zk := site(t, nil)
	hold(t, client, "/locks/a", "billing")
	events := listen(t, url+"/events")
	events.untilStatus("a look", func(s heardStatus) bool { return s.Fresh > 0 })
	zk.Freeze()
	defer zk.Unfreeze()
	events.untilStatus("the age", func(s heardStatus) bool { return s.Now-s.Fresh > 3000 })
	got := events.untilStatus("why the look failed", func(s heardStatus) bool { return s.Failed != "" })
	if want := "no server has answered for 10s"; got.Failed != want && !strings.Contains(got.Failed, "no server answers") {
		t.Errorf("got %q, want %q", got.Failed, want)
	}
}

// plant makes a node and its parents.
func plant(t *testing.T, zk *zktest.Server, path, data string) {
	t.Helper()
	for i, r := range path[1:] {
		if parent := path[:i+1]; r == '/' && !zk.Exists(parent) {
			if err := zk.Create(parent, nil); err != nil {
				t.Fatal(err)
			}
		}
	}
	if err := zk.Create(path, []byte(data)); err != nil {
		t.Fatal(err)
	}
}

// A long queue that does not change is read once, and sent once.
func TestUnchangedQueueIsReadOnce(t *testing.T) {
	t.Parallel()
	const n = 50
	url, client, zk := site(t, nil)
	for i := range n {
		path := fmt.Sprintf("/locks/a/_c_ba785fd9-44cb-4a14-8cfd-2b3b5c2badb3-lock-%010d", i)
		plant(t, zk, path, fmt.Sprint("worker ", i))
	}
	session, err := client.Session(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	var nodes atomic.Int64
	defer zk.Observe(func(r zktest.Request) {
		if r.Session == session.ID() && r.Op == zktest.OpGetData {
			nodes.Add(1)
		}
	})()
	events := listen(t, url+"/events?lock=/locks/a")
	data := events.until("the queue", func(name, _ string) bool { return name == "lock" })
	if strings.Count(data, `"state"`) != n || !strings.Contains(data, `"holders":1,"waiting":49`) {
		t.Errorf("got %s, want %d contenders", data, n)
	}
	for range 20 {
		events.until("a look", func(name, _ string) bool {
			if name == "lock" {
				t.Error("the queue was sent again, want it once: nothing has changed")
			}
			return name == "delta"
		})
	}
	if got := nodes.Load(); got > n+1 { // one more: the holder's, for the overview
		t.Errorf("got %d reads of contenders, want %d", got, n+1)
	}
	later := listen(t, url+"/events?lock=/locks/a") // a further page has it without another read
	later.until("the queue", func(name, _ string) bool { return name == "lock" })
	if err := zk.Delete("/locks/a/_c_ba785fd9-44cb-4a14-8cfd-2b3b5c2badb3-lock-0000000000"); err != nil {
		t.Fatal(err)
	}
	events.until("that the holder has left", func(name, data string) bool {
		return name == "lock" && strings.Contains(data, `"waiting":48`) && strings.Contains(data, `"what":"left"`)
	})
}

func TestOnlyTheFirstHundredContendersAreSent(t *testing.T) {
	t.Parallel()
	url, _, zk := site(t, nil)
	for i := range 130 {
		path := fmt.Sprintf("/locks/a/_c_ba785fd9-44cb-4a14-8cfd-2b3b5c2badb3-lock-%010d", i)
		plant(t, zk, path, "")
	}
	events := listen(t, url+"/events?lock=/locks/a")
	data := events.until("the queue", func(name, _ string) bool { return name == "lock" })
	if got := strings.Count(data, `"state"`); got != 100 || !strings.Contains(data, `"waiting":129,"more":30`) {
		t.Errorf("got %d contenders in %s, want 100, and 30 more", got, data)
	}
}

func TestFindingsOnLocksAndServersAreShared(t *testing.T) {
	t.Parallel()
	var addr string
	url, client, zk := site(t, func(o *web.Options) { o.HideData = true })
	addr = zk.Addr()
	plant(t, zk, "/locks/a/_c_ba785fd9-44cb-4a14-8cfd-2b3b5c2badb3-lock-0000000000", "secret")
	withServers, err := web.New(web.Options{Client: client, Servers: addr})
	if err != nil {
		t.Fatal(err)
	}
	defer withServers.Close()
	var reads atomic.Int64
	defer zk.Observe(func(r zktest.Request) {
		if strings.HasPrefix(r.Op.String(), "getChildren") {
			reads.Add(1)
		}
	})()
	_, first, _ := ask(t, http.MethodGet, url+"/findings", "", nil)
	for _, want := range []string{`"level":"wrong"`, "is no ephemeral node"} {
		if !strings.Contains(first, want) {
			t.Errorf("got %s, want %s in it", first, want)
		}
	}
	if strings.Contains(first, "secret") || strings.Contains(first, addr) {
		t.Errorf("got %s, want neither what nodes contain nor servers, which were not named", first)
	}
	examined := reads.Load()
	if _, again, _ := ask(t, http.MethodGet, url+"/findings", "", nil); again != first || reads.Load() != examined {
		t.Errorf("got %s after %d further reads, want what was found a moment ago", again, reads.Load()-examined)
	}
	request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "http://127.0.0.1/findings", nil)
	if err != nil {
		t.Fatal(err)
	}
	answer := newRecorder()
	withServers.ServeHTTP(answer, request)
	if got := answer.body.String(); !strings.Contains(got, addr+`","what":"ZooKeeper `) || !strings.Contains(got, "secret") {
		t.Errorf("got %s, want the server and the contender", got)
	}
}

// A recorder is a http.ResponseWriter without deadlines, as some of other servers are.
type recorder struct {
	header http.Header
	body   strings.Builder
}

func newRecorder() *recorder                    { return &recorder{header: http.Header{}} }
func (r *recorder) Header() http.Header         { return r.header }
func (r *recorder) Write(p []byte) (int, error) { return r.body.Write(p) }
func (r *recorder) WriteHeader(int)             {}

// A body that comes a byte a second would keep a connection for as long as it likes.
func TestSlowBodyEndsItsConnection(t *testing.T) {
	t.Parallel()
	url, _, _ := site(t, func(o *web.Options) { o.AllowRevoke = true })
	conn, err := net.Dial("tcp", strings.TrimPrefix(url, "http://"))
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	if _, err := fmt.Fprintf(conn, "POST /revoke HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: 1000\r\n\r\n{"); err != nil {
		t.Fatal(err)
	}
	ended := make(chan error, 1)
	go func() {
		for buf := make([]byte, 1024); ; {
			if _, err := conn.Read(buf); err != nil {
				ended <- err
				return
			}
		}
	}()
	await.Receive(t, time.Minute, "the server to hang up", ended)
	for _, body := range []string{"x", strings.Repeat("x", 1000)} {
		if got, _, _ := ask(t, http.MethodGet, url+"/events", body, nil); got != http.StatusBadRequest {
			t.Errorf("a stream with a body: got status %d, want 400", got)
		}
	}
}
