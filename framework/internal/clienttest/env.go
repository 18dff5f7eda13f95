// Package clienttest has what the tests of the client and of its sessions share: a server in memory, a client of it
// with a network path of its own, and a listener that remembers.
package clienttest

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/framework/zktest"
	"github.com/gocurator/curator/retry"
)

// SessionTimeout is the session timeout of clients in tests. Its thirds and quarters are whole seconds.
const SessionTimeout = 12 * time.Second

// ConnectionTimeout is the default of clients that set none.
const ConnectionTimeout = 15 * time.Second

// An Env is a server, a client's own network path to it, and the client with every state that it has reported.
type Env struct {
	*testing.T
	Server *zktest.Server
	Link   *zktest.Link
	Client *framework.Client
	States *States
}

// New makes an Env with a client that connects.
func New(t *testing.T, opts ...framework.Option) *Env {
	t.Helper()
	return newEnv(t, func(*zktest.Link) {}, opts)
}

// NewCut makes an Env with a client whose link is cut from the start. After New, the client could connect before a
// test's Cut.
func NewCut(t *testing.T, opts ...framework.Option) *Env {
	t.Helper()
	return newEnv(t, (*zktest.Link).Cut, opts)
}

func newEnv(t *testing.T, prepare func(*zktest.Link), opts []framework.Option) *Env {
	t.Helper()
	e := &Env{T: t, Server: zktest.NewServer(), States: &States{}}
	t.Cleanup(func() { _ = e.Server.Close() })
	e.Link = e.Server.NewLink()
	prepare(e.Link)
	e.Client = e.Dial("zk:2181", append([]framework.Option{framework.WithStateListener(e.States.Hear)}, opts...)...)
	return e
}

// Dial makes a client over the environment's link, which the test closes at its end, if it has not done so itself.
func (e *Env) Dial(connect string, opts ...framework.Option) *framework.Client {
	e.Helper()
	client, err := framework.NewClient(connect, append([]framework.Option{
		framework.WithDialer(e.Link.DialContext),
		framework.WithSessionTimeout(SessionTimeout),
		framework.WithDefaultData([]byte("default")),
		framework.WithRetryPolicy(retry.NTimes(10, time.Second)),
	}, opts...)...)
	if err != nil {
		e.Fatal(err)
	}
	e.Cleanup(func() { _ = client.Close() })
	return client
}

// Connected waits until the client is connected.
func (e *Env) Connected() {
	e.Helper()
	if err := e.Client.BlockUntilConnected(e.Context()); err != nil {
		e.Fatal(err)
	}
	synctest.Wait()
}

// Session returns the client's present session.
func (e *Env) Session() framework.Session {
	e.Helper()
	s, err := e.Client.Session(e.Context())
	if err != nil {
		e.Fatal(err)
	}
	return s
}

// Create makes a node with no more ado.
func (e *Env) Create(path string, opts ...framework.CreateOption) string {
	e.Helper()
	created, _, err := e.Client.Create(e.Context(), path, nil, opts...)
	if err != nil {
		e.Fatal(err)
	}
	return created
}

// Make makes a node at the server, by another hand than the client's.
func (e *Env) Make(path string) {
	e.Helper()
	if err := e.Server.Create(path, []byte("1")); err != nil {
		e.Fatal(err)
	}
}

// Count is how many such requests the server has executed.
func (e *Env) Count(op zktest.Op) int { return e.Server.Counts()[op] }

// Eventually lets virtual time pass, in small steps, until ok.
func (e *Env) Eventually(what string, ok func() bool) {
	e.Helper()
	for range 30_000 {
		synctest.Wait()
		if ok() {
			return
		}
		time.Sleep(10 * time.Millisecond)
	}
	e.Fatalf("not within five minutes: %s", what)
}

// Within gives a context that ends so long from now.
func (e *Env) Within(d time.Duration) context.Context {
	ctx, cancel := context.WithTimeout(e.Context(), d)
	e.Cleanup(cancel)
	return ctx
}

// Must ends the test if err is not nil.
func Must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// WantErr checks that err is all of want, or nil if there is none.
func WantErr(t testing.TB, err error, want ...error) {
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
