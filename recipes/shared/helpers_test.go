package shared_test

import (
	"context"
	"errors"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/framework/zktest"
	"github.com/gocurator/curator/recipes/shared"
	"github.com/gocurator/curator/retry"
)

const (
	sessionTimeout = 10 * time.Second
	parent         = "/limits"
	path           = parent + "/jobs"
)

// inBubble runs a test with a server of its own. A goroutine, a watch or a connection that is left at its end is an
// error.
func inBubble(t *testing.T, test func(t *testing.T, server *zktest.Server)) {
	t.Helper()
	zktest.Bubble(t, func(t *testing.T) { test(t, zktest.New(t)) })
}

// newClient makes a client over a path of its own.
func newClient(t *testing.T, server *zktest.Server) (*framework.Client, *zktest.Link) {
	t.Helper()
	return newClientAt(t, server, "")
}

func newClientAt(t *testing.T, server *zktest.Server, chroot string) (*framework.Client, *zktest.Link) {
	t.Helper()
	link := server.NewLink()
	client, err := framework.NewClient("zktest:2181"+chroot,
		framework.WithDialer(link.DialContext), framework.WithSessionTimeout(sessionTimeout),
		framework.WithRetryPolicy(retry.NTimes(5, 10*time.Millisecond)))
	must(t, err)
	t.Cleanup(func() {
		link.Heal()
		_ = client.Close()
	})
	must(t, client.BlockUntilConnected(t.Context()))
	return client, link
}

// must ends the test if err is not nil.
func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func wantErr(t *testing.T, err error, want ...error) {
	t.Helper()
	if len(want) == 0 && err != nil {
		t.Errorf("got error %v, want none", err)
	}
	for _, w := range want {
		if !errors.Is(err, w) {
			t.Errorf("got error %v, want %v", err, w)
		}
	}
}

// start makes a count, follows it, and ends that at the end of the test.
func start(t *testing.T, client *framework.Client, seed int32) *shared.SharedCount {
	t.Helper()
	count := shared.NewSharedCount(client, path, seed)
	must(t, count.Start(t.Context()))
	t.Cleanup(func() { _ = count.Close() })
	synctest.Wait()
	return count
}

func set(t *testing.T, count *shared.SharedCount, value int32) {
	t.Helper()
	must(t, count.SetCount(t.Context(), value))
	synctest.Wait()
}

func wantCount(t *testing.T, count *shared.SharedCount, want int32) {
	t.Helper()
	synctest.Wait()
	if got := count.Count(); got != want {
		t.Errorf("count is %d, want %d", got, want)
	}
}

// tidings are what a listener heard.
type tidings struct {
	mu    sync.Mutex
	heard []int32
}

func (h *tidings) hear(count int32) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.heard = append(h.heard, count)
}

func (h *tidings) want(t *testing.T, want ...int32) {
	t.Helper()
	synctest.Wait()
	h.mu.Lock()
	defer h.mu.Unlock()
	if !slices.Equal(h.heard, want) {
		t.Errorf("heard %v, want %v", h.heard, want)
	}
}

// expire ends the client's session at the server, and returns when the client has the next one.
func expire(t *testing.T, server *zktest.Server, client *framework.Client) {
	t.Helper()
	session, err := client.Session(t.Context())
	must(t, err)
	server.ExpireSession(session.ID())
	<-session.Done()
	if _, err := client.Session(t.Context()); err != nil {
		t.Fatal(err)
	}
	synctest.Wait()
}

// cancelled is a context that has ended.
func cancelled(t *testing.T) context.Context {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	return ctx
}
