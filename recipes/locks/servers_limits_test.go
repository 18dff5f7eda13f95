package locks_test

import (
	"context"
	"net"
	"sync/atomic"
	"testing"
	"time"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/framework/zktest"
	"github.com/gocurator/curator/recipes/locks"
)

// deafConn is a connection to a server whose answers are lost.
type deafConn struct{ net.Conn }

func (d deafConn) Read(p []byte) (int, error) {
	for {
		if _, err := d.Conn.Read(p); err != nil {
			return 0, err
		}
	}
}

// A holder reconnects to a server that grants a quarter of its session timeout. The answer to its handshake is lost,
// and the holder is cut off. The servers let the next one in after a quarter of the time.
func TestAServerThatGrantsLessShortensNoSessionOfAClientThatAsksForNoMore(t *testing.T) {
	const least, short = time.Second, sessionTimeout / 4
	for name, c := range map[string]struct {
		asks     time.Duration
		told     bool // a server has granted a quarter to an earlier session
		overlaps bool
	}{
		"it asks for a quarter":           {asks: short},
		"it was granted a quarter before": {asks: sessionTimeout, told: true},
		"no server has told it (S8)":      {asks: sessionTimeout, overlaps: true},
	} {
		t.Run(name, func(t *testing.T) {
			zktest.Bubble(t, func(t *testing.T) {
				server := zktest.New(t)
				if c.told {
					server.SetSessionTimeouts(least, short)
				}
				cable := server.NewLink()
				var lossy atomic.Bool
				holder := newClient(t, func(ctx context.Context, network, address string) (net.Conn, error) {
					conn, err := cable.DialContext(ctx, network, address)
					if err == nil && lossy.Load() {
						conn = deafConn{conn}
					}
					return conn, err
				}, c.asks)
				if c.told {
					s, err := holder.Session(t.Context())
					if err != nil {
						t.Fatal(err)
					}
					server.SetSessionTimeouts(least, time.Hour)
					server.ExpireSession(s.ID())
					<-s.Done()
				}
				lease, err := locks.NewInterProcessMutex(holder, path).Acquire(t.Context())
				if err != nil {
					t.Fatal(err)
				}
				next := begin(t.Context(), t, locks.NewInterProcessMutex(newClient(t, server.DialContext, sessionTimeout), path))
				time.Sleep(sessionTimeout)
				server.SetSessionTimeouts(least, short)
				lossy.Store(true)
				cable.Reset()
				time.Sleep(time.Second)
				cable.Cut()
				defer soon(t, next).must(t).Release()
				if got := lease.Err() == nil; got != c.overlaps {
					t.Errorf("the next one was let in, and two hold the lock: got %t, want %t", got, c.overlaps)
				}
			})
		})
	}
}

func newClient(t *testing.T, dial func(ctx context.Context, network, address string) (net.Conn, error), timeout time.Duration) *framework.Client {
	t.Helper()
	client, err := framework.NewClient("zk:2181", framework.WithDialer(dial), framework.WithSessionTimeout(timeout))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = client.Close() })
	return client
}
