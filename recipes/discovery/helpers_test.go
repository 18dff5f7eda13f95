package discovery_test

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/framework/zktest"
	"github.com/gocurator/curator/recipes/discovery"
	"github.com/gocurator/curator/retry"
)

const (
	sessionTimeout = 10 * time.Second
	base           = "/services"
	orders         = base + "/orders"
)

// inBubble runs a test with a server of its own. A goroutine, a watch or a connection that is left at its end is an
// error.
func inBubble(t *testing.T, test func(t *testing.T, server *zktest.Server), opts ...zktest.Option) {
	t.Helper()
	zktest.Bubble(t, func(t *testing.T) { test(t, zktest.New(t, opts...)) })
}

// newClient makes a client over a path of its own.
func newClient(t *testing.T, server *zktest.Server, opts ...framework.Option) (*framework.Client, *zktest.Link) {
	t.Helper()
	link := server.NewLink()
	client, err := framework.NewClient("zktest:2181", append([]framework.Option{
		framework.WithDialer(link.DialContext), framework.WithSessionTimeout(sessionTimeout),
		framework.WithRetryPolicy(retry.NTimes(5, 10*time.Millisecond)),
	}, opts...)...)
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

func sessionOf(t *testing.T, client *framework.Client) int64 {
	t.Helper()
	s, err := client.Session(t.Context())
	must(t, err)
	return s.ID()
}

func pointer[T any](v T) *T { return &v }

// order is an instance of the service of most tests.
func order(id string, port int) discovery.ServiceInstance {
	return discovery.ServiceInstance{Name: "orders", ID: id, Address: "10.0.0.7", Port: pointer(port)}
}

// register registers an instance, and ends that with the test.
func register(t *testing.T, client *framework.Client, i discovery.ServiceInstance) *discovery.Registration {
	t.Helper()
	r, err := discovery.NewServiceDiscovery(client, base).Register(t.Context(), i)
	must(t, err)
	t.Cleanup(func() { _ = r.Close() })
	return r
}

// follow starts a cache of the service of most tests, and closes it at the end of the test.
func follow(t *testing.T, client *framework.Client) *discovery.ServiceCache {
	t.Helper()
	c := discovery.NewServiceDiscovery(client, base).NewServiceCache("orders")
	must(t, c.Start(t.Context()))
	t.Cleanup(func() { _ = c.Close() })
	return c
}

// data is what a node of an instance has.
func data(t *testing.T, i discovery.ServiceInstance) []byte {
	t.Helper()
	text, err := i.MarshalJSON()
	must(t, err)
	return text
}

func makeNode(t *testing.T, server *zktest.Server, path string, data []byte) {
	t.Helper()
	must(t, server.Create(path, data))
}

// makeService makes the parents that registrations would.
func makeService(t *testing.T, server *zktest.Server) {
	t.Helper()
	makeNode(t, server, base, nil)
	makeNode(t, server, orders, nil)
}

func setNode(t *testing.T, server *zktest.Server, path string, data []byte) {
	t.Helper()
	must(t, server.SetData(path, data))
}

func deleteNode(t *testing.T, server *zktest.Server, path string) {
	t.Helper()
	must(t, server.Delete(path))
}

// brief is an instance in a word.
func brief(i discovery.ServiceInstance) string {
	if i.Port == nil {
		return i.ID
	}
	return fmt.Sprintf("%s:%d", i.ID, *i.Port)
}

func briefs(all []discovery.ServiceInstance) []string {
	var texts []string
	for _, i := range all {
		texts = append(texts, brief(i))
	}
	return texts
}

func wantInstances(t *testing.T, c *discovery.ServiceCache, want ...string) {
	t.Helper()
	synctest.Wait()
	if got := briefs(slices.Collect(c.Instances())); !slices.Equal(got, want) {
		t.Errorf("the cache has the instances %q, want %q", got, want)
	}
}

// An ear is a subscriber that remembers, and keeps a copy of the cache by events alone.
type ear struct {
	gate  atomic.Pointer[chan struct{}]
	mu    sync.Mutex
	heard []string
	known map[string]string // by the names of nodes
	wrong []string          // what no order of events allows
}

func subscribe(c *discovery.ServiceCache) *ear {
	e := &ear{known: map[string]string{}}
	c.OnEvent(e.hear)
	return e
}

// hold has the next event wait, and those behind it, until goOn is called.
func (e *ear) hold() (goOn func()) {
	gate := make(chan struct{})
	e.gate.Store(&gate)
	return func() { close(gate) }
}

func (e *ear) hear(event discovery.Event) {
	if gate := e.gate.Load(); gate != nil {
		<-*gate
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	before, after := brief(event.Old), brief(event.New)
	text := strings.Join(strings.Fields(fmt.Sprint(event.Kind, " ", before, " ", after)), " ")
	e.heard = append(e.heard, text)
	if event.Node == "" {
		return
	}
	if known := e.known[event.Node]; known != before {
		e.wrong = append(e.wrong, fmt.Sprintf("%s of node %s, known as %q", text, event.Node, known))
	}
	if e.known[event.Node] = after; after == "" {
		delete(e.known, event.Node)
	}
}

// want checks what was heard since the last time.
func (e *ear) want(t *testing.T, want ...string) {
	t.Helper()
	synctest.Wait()
	e.mu.Lock()
	defer e.mu.Unlock()
	if !slices.Equal(e.heard, want) {
		t.Errorf("got the events %q, want %q", e.heard, want)
	}
	for _, wrong := range e.wrong {
		t.Error(wrong)
	}
	e.heard, e.wrong = nil, nil
}

// wantSorted is want for events of several nodes in one reading, whose order is open. That of each node is not.
func (e *ear) wantSorted(t *testing.T, want ...string) {
	t.Helper()
	synctest.Wait()
	e.mu.Lock()
	slices.Sort(e.heard)
	e.mu.Unlock()
	e.want(t, want...)
}

// wantKnown checks that the events have been about just the instances that the cache has.
func (e *ear) wantKnown(t *testing.T, c *discovery.ServiceCache) {
	t.Helper()
	synctest.Wait()
	e.mu.Lock()
	defer e.mu.Unlock()
	var known []string
	for _, node := range slices.Sorted(maps.Keys(e.known)) {
		known = append(known, e.known[node])
	}
	if got := briefs(slices.Collect(c.Instances())); !slices.Equal(known, got) || len(e.wrong) > 0 {
		t.Errorf("the events amount to %q, want %q, which the cache has; %q", known, got, e.wrong)
	}
}
