package live

import (
	"context"
	"net"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-zookeeper/zk"

	"github.com/gocurator/curator/framework/internal/transport"
	"github.com/gocurator/curator/framework/internal/watches"
	"github.com/gocurator/curator/framework/session"
	"github.com/gocurator/curator/framework/zktest"
)

// running gives a test a session of a server, and counts its connections.
func running(t *testing.T, server *zktest.Server, dials *atomic.Int32) *Session {
	t.Helper()
	events := (&ownerLog{}).hear()
	events.Attached, events.Detached, events.Over = func(string) {}, func(error) {}, func() {} // from two goroutines
	cfg := unconnectedConfig()
	cfg.Transport.Dial = func(ctx context.Context, network, address string) (net.Conn, error) {
		dials.Add(1)
		return server.DialContext(ctx, network, address)
	}
	cfg.Transport.Route = transport.NewRoute(func(context.Context) []string { return []string{"zk:2181"} }, nil)
	cfg.Transport.SessionTimeout, cfg.Transport.ConnectionTimeout, cfg.Transport.MaxFrame = time.Minute, time.Minute, 1<<20
	cfg.MaxRequest = 1 << 20
	owner := New(cfg, events)
	if err := owner.Start(); err != nil {
		t.Fatal(err)
	}
	closing := make(chan struct{})
	ran := make(chan struct{})
	go func() {
		owner.Run(closing)
		close(ran)
	}()
	t.Cleanup(func() {
		close(closing)
		<-ran
		owner.Close(time.Second)
	})
	synctest.Wait()
	return owner.Session()
}

// An answer that neither shows the node nor refuses it, such as that the session has moved, is no answer: the session
// leaves the connection, and the next one sets the watch.
func TestAnUnclearAnswerToAWatchEndsTheConnection(t *testing.T) {
	zktest.Bubble(t, func(t *testing.T) {
		server := zktest.New(t)
		var dials atomic.Int32
		s := running(t, server, &dials)
		w := &s.watching
		s.base.mu.Lock()
		watch := &watch{all: w}
		w.table.Subscribe(&watch.subscription, watches.Key{Path: "/"}, func() {}, watches.Promptly, time.Now())
		request := w.table.Requests()[0]
		s.base.mu.Unlock()
		w.answered(request, watches.Answer{Err: zk.ErrSessionMoved})
		time.Sleep(10 * time.Second)
		if got := dials.Load(); got != 2 {
			t.Errorf("got %d connections, want a second one", got)
		}
		if got := watch.View(); got.Status != session.StatusPresent || !got.Current {
			t.Errorf("got %+v, want what the second connection has read", got)
		}
	})
}
