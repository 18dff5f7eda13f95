package framework_test

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
	"github.com/gocurator/curator/retry"
)

// session is the session timeout of these tests: its thirds and quarters are whole.
const session = 12 * time.Second

// world is a server, a client's own network path to it, and the client with every state that it has told.
type world struct {
	*testing.T
	srv    *zktest.Server
	link   *zktest.Link
	client *framework.Client
	states *states
}

// bubble runs f in a bubble, in which time is virtual and no goroutine may be left, with a connected client.
func bubble(t *testing.T, f func(t *testing.T, w *world), opts ...framework.Option) {
	t.Helper()
	zktest.Bubble(t, func(t *testing.T) {
		w := newWorld(t, opts...)
		w.connected()
		f(t, w)
	})
}

func newWorld(t *testing.T, opts ...framework.Option) *world {
	t.Helper()
	w := &world{T: t, srv: zktest.NewServer(), states: &states{}}
	t.Cleanup(func() { w.srv.Close() })
	w.link = w.srv.NewLink()
	w.client = w.dial("zk:2181", append([]framework.Option{framework.WithStateListener(w.states.hear)}, opts...)...)
	return w
}

// dial makes a client over the world's link, which the test closes at its end, if it has not done so itself.
func (w *world) dial(connect string, opts ...framework.Option) *framework.Client {
	w.Helper()
	client, err := framework.NewClient(connect, append([]framework.Option{
		framework.WithDialer(w.link.DialContext),
		framework.WithSessionTimeout(session),
		framework.WithDefaultData([]byte("default")),
		framework.WithRetryPolicy(retry.NTimes(10, time.Second)),
	}, opts...)...)
	if err != nil {
		w.Fatal(err)
	}
	w.Cleanup(func() { _ = client.Close() })
	return client
}

func (w *world) connected() {
	w.Helper()
	if err := w.client.BlockUntilConnected(w.Context()); err != nil {
		w.Fatal(err)
	}
	synctest.Wait()
}

func (w *world) session() *framework.Session {
	w.Helper()
	s, err := w.client.Session(w.Context())
	if err != nil {
		w.Fatal(err)
	}
	return s
}

// create makes a node with no more ado.
func (w *world) create(path string, opts ...framework.CreateOption) string {
	w.Helper()
	created, _, err := w.client.Create(w.Context(), path, nil, opts...)
	if err != nil {
		w.Fatal(err)
	}
	return created
}

// count is how many such requests the server has executed.
func (w *world) count(op zktest.Op) int { return w.srv.Counts()[op] }

// eventually lets virtual time pass, in small steps, until ok.
func (w *world) eventually(what string, ok func() bool) {
	w.Helper()
	for range 30_000 {
		synctest.Wait()
		if ok() {
			return
		}
		time.Sleep(10 * time.Millisecond)
	}
	w.Fatalf("not within five minutes: %s", what)
}

// states is a listener that remembers.
type states struct {
	mu    sync.Mutex
	heard []framework.State
	at    []time.Time
}

func (s *states) hear(state framework.State) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.heard = append(s.heard, state)
	s.at = append(s.at, time.Now())
}

func (s *states) all() []framework.State {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.heard)
}

func (s *states) has(state framework.State) bool { return slices.Contains(s.all(), state) }

// when is the time at which state was first heard.
func (s *states) when(t testing.TB, state framework.State) time.Time {
	t.Helper()
	s.mu.Lock()
	defer s.mu.Unlock()
	i := slices.Index(s.heard, state)
	if i < 0 {
		t.Fatalf("%v was not told, but %v", state, s.heard)
	}
	return s.at[i]
}

func (s *states) want(t testing.TB, want ...framework.State) {
	t.Helper()
	if got := s.all(); !slices.Equal(got, want) {
		t.Errorf("heard %v, want %v", got, want)
	}
}

// wantErr checks that err is all of want.
func wantErr(t testing.TB, err error, want ...error) {
	t.Helper()
	for _, w := range want {
		if !errors.Is(err, w) {
			t.Errorf("got error %v, want %v", err, w)
		}
	}
}

// within gives a context that ends so long from now.
func (w *world) within(d time.Duration) context.Context {
	ctx, cancel := context.WithTimeout(w.Context(), d)
	w.Cleanup(cancel)
	return ctx
}
