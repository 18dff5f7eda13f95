package comparison_test

import (
	"testing"
	"time"

	"github.com/go-zookeeper/zk"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/framework/zktest"
)

const sessionTimeout = 10 * time.Second

// A peer is one process with a session of its own: link is its cable.
type peer struct {
	t    *testing.T
	link *zktest.Link
}

func newPeer(t *testing.T, server *zktest.Server) peer { return peer{t, server.NewLink()} }

// goZookeeper connects as the programs do.
func (p peer) goZookeeper() (*zk.Conn, <-chan zk.Event) {
	p.t.Helper()
	conn, events, err := zk.Connect([]string{"zktest:2181"}, sessionTimeout, zk.WithDialer(p.link.Dial),
		zk.WithHostProvider(&oneHost{}), zk.WithLogger(quiet{}), zk.WithMaxConnBufferSize(64<<10))
	must(p.t, err)
	p.t.Cleanup(func() {
		conn.Close()
		for range events { // closed when the connection has wholly ended
		}
	})
	return conn, events
}

// curator connects as they would with this library.
func (p peer) curator() *framework.Client {
	p.t.Helper()
	client, err := framework.NewClient("zktest:2181", framework.WithDialer(p.link.DialContext),
		framework.WithSessionTimeout(sessionTimeout))
	must(p.t, err)
	p.t.Cleanup(func() { must(p.t, client.Close()) })
	return client
}

// A oneHost is go-zookeeper's list of servers without DNS, which would outlive a bubble.
type oneHost struct{ tries int }

func (*oneHost) Init([]string) error { return nil }
func (*oneHost) Len() int            { return 1 }
func (h *oneHost) Connected()        { h.tries = 0 }

func (h *oneHost) Next() (server string, retryStart bool) {
	h.tries++
	return "zktest:2181", h.tries > 1 // a pause, but before the first try: it would fail what is queued
}

type quiet struct{}

func (quiet) Printf(string, ...any) {}

// everybody is the permissions that all three programs give.
var everybody = zk.WorldACL(zk.PermAll)

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
