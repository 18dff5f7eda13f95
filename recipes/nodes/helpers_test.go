package nodes_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/framework/zktest"
	"github.com/gocurator/curator/recipes/nodes"
	"github.com/gocurator/curator/retry"
)

const (
	sessionTimeout = 10 * time.Second
	path           = "/services/web/1"
)

// inBubble runs a test with a server of its own. A goroutine, a watch or a connection that is left at its end is an
// error.
func inBubble(t *testing.T, test func(t *testing.T, server *zktest.Server), opts ...zktest.Option) {
	t.Helper()
	zktest.Bubble(t, func(t *testing.T) { test(t, zktest.New(t, opts...)) })
}

// newClient makes a client over a path of its own, and waits until it is connected.
func newClient(t *testing.T, server *zktest.Server, opts ...framework.Option) (*framework.Client, *zktest.Link) {
	t.Helper()
	client, link := newClientAt(t, server, "", opts...)
	must(t, client.BlockUntilConnected(t.Context()))
	return client, link
}

func newClientAt(t *testing.T, server *zktest.Server, chroot string, opts ...framework.Option) (*framework.Client, *zktest.Link) {
	t.Helper()
	link := server.NewLink()
	client, err := framework.NewClient("zktest:2181"+chroot, append([]framework.Option{
		framework.WithDialer(link.DialContext), framework.WithSessionTimeout(sessionTimeout),
		framework.WithConnectionTimeout(5 * time.Second), framework.WithRetryPolicy(retry.NTimes(5, 10*time.Millisecond)),
	}, opts...)...)
	must(t, err)
	t.Cleanup(func() {
		link.Heal()
		_ = client.Close()
	})
	return client, link
}

// must ends the test if err is not nil.
func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// start starts a node, and closes it at the end of the test.
func start(t *testing.T, client *framework.Client, path, data string, opts ...nodes.Option) *nodes.PersistentNode {
	t.Helper()
	node := newNode(t, client, path, data, opts...)
	wantErr(t, node.Start(t.Context()))
	synctest.Wait()
	return node
}

func newNode(t *testing.T, client *framework.Client, path, data string, opts ...nodes.Option) *nodes.PersistentNode {
	t.Helper()
	node := nodes.NewPersistentNode(client, path, []byte(data), opts...)
	t.Cleanup(func() { _ = node.Close() })
	return node
}

// withMode also overwrites, where the mode needs that.
func withMode(mode framework.CreateMode) []nodes.Option {
	opts := []nodes.Option{nodes.WithMode(mode)}
	if mode == framework.Persistent || mode == framework.PersistentWithTTL {
		opts = append(opts, nodes.Overwriting())
	}
	return opts
}

// startSoon starts a node on a goroutine of its own.
func startSoon(t *testing.T, node *nodes.PersistentNode) (ended <-chan error) {
	t.Helper()
	done := make(chan error, 1)
	ctx := t.Context()
	go func() { done <- node.Start(ctx) }()
	synctest.Wait()
	return done
}

// wantPending checks that a call has not returned.
func wantPending(t *testing.T, ended <-chan error) {
	t.Helper()
	synctest.Wait()
	select {
	case err := <-ended:
		t.Fatalf("got a return with %v, want a call that blocks", err)
	default:
	}
}

func within(t *testing.T, d time.Duration) context.Context {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), d)
	t.Cleanup(cancel)
	return ctx
}

// wantErr checks that err is all of want; nil without any.
func wantErr(t *testing.T, err error, want ...error) {
	t.Helper()
	if len(want) == 0 && err != nil {
		t.Fatalf("got the error %v, want none", err)
	}
	for _, w := range want {
		if !errors.Is(err, w) {
			t.Fatalf("got the error %v, want %v", err, w)
		}
	}
	if err != nil && strings.Contains(err.Error(), "\n") {
		t.Errorf("got an error of several lines, want one: %q", err)
	}
}

func wantSomeErr(t *testing.T, err error) {
	t.Helper()
	if err == nil {
		t.Error("got no error, want one")
	}
}

func sessionOf(t *testing.T, client *framework.Client) framework.Session {
	t.Helper()
	s, err := client.Session(t.Context())
	wantErr(t, err)
	return s
}

// makeNode makes a node of an administrator, and its parents.
func makeNode(t *testing.T, server *zktest.Server, path, data string) {
	t.Helper()
	for i, c := range path {
		if c == '/' && i > 0 && !server.Exists(path[:i]) {
			wantErr(t, server.Create(path[:i], nil))
		}
	}
	wantErr(t, server.Create(path, []byte(data)))
}

func deleteNode(t *testing.T, server *zktest.Server, path string) {
	t.Helper()
	wantErr(t, server.Delete(path))
	synctest.Wait()
}

// makeEphemeral makes a node of a client by other means than this package.
func makeEphemeral(t *testing.T, client *framework.Client, path, data string) {
	t.Helper()
	_, _, err := client.Create(t.Context(), path, []byte(data), framework.WithMode(framework.Ephemeral), framework.CreatingParentsIfNeeded())
	wantErr(t, err)
}

// expire ends the client's session at the server, and returns when the client has the next one.
func expire(t *testing.T, server *zktest.Server, client *framework.Client) {
	t.Helper()
	s := sessionOf(t, client)
	server.ExpireSession(s.ID())
	<-s.Done()
	sessionOf(t, client)
	synctest.Wait()
}

// wantThere checks that the server has the node, that it belongs to the client's session, and that the client says so.
func wantThere(t *testing.T, server *zktest.Server, client *framework.Client, node *nodes.PersistentNode, data string) {
	t.Helper()
	synctest.Wait()
	stat, exists := server.Stat(node.Path())
	got, _ := server.Data(node.Path())
	if id := sessionOf(t, client).ID(); !exists || stat.EphemeralOwner != id || string(got) != data {
		t.Errorf("got a node %v at %q with %q of session %#x, want one with %q of session %#x", exists, node.Path(), got, stat.EphemeralOwner, data, id)
	}
	if !node.There() || node.Err() != nil {
		t.Errorf("got there %v, error %v; want true and none", node.There(), node.Err())
	}
}

func wantNotThere(t *testing.T, node *nodes.PersistentNode, want ...error) {
	t.Helper()
	synctest.Wait()
	if node.There() {
		t.Error("got there, want not there")
	}
	wantErr(t, node.Err(), want...)
}

// wantNode checks data and owner of a node; an empty data means that there is none.
func wantNode(t *testing.T, server *zktest.Server, path, data string, owner int64) {
	t.Helper()
	synctest.Wait()
	stat, exists := server.Stat(path)
	if got, _ := server.Data(path); exists != (data != "") || string(got) != data || stat.EphemeralOwner != owner {
		t.Errorf("got a node %v at %s with %q of session %#x, want %q of %#x", exists, path, got, stat.EphemeralOwner, data, owner)
	}
}

// changes is a listener that remembers.
type changes struct {
	mu    sync.Mutex
	heard []bool
}

func (c *changes) hear(there bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.heard = append(c.heard, there)
}

// want checks what was heard since the last time.
func (c *changes) want(t *testing.T, want ...bool) {
	t.Helper()
	synctest.Wait()
	c.mu.Lock()
	defer c.mu.Unlock()
	if !slices.Equal(c.heard, want) {
		t.Errorf("heard %v, want %v", c.heard, want)
	}
	c.heard = nil
}
