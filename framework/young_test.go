package framework_test

import (
	"context"
	"net"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/framework/internal/clienttest"
	"github.com/gocurator/curator/framework/zktest"
)

// forgetful is a connection whose handshake always asks for a new session: to the client, the server is one that
// answers every handshake with a session of another id, as ClickHouse Keeper does.
type forgetful struct {
	net.Conn
	shaken bool
}

func (f *forgetful) Write(p []byte) (int, error) {
	if !f.shaken && len(p) > 28 {
		f.shaken = true
		p = append([]byte(nil), p...)
		clear(p[20:28])
	}
	return f.Conn.Write(p)
}

func TestAServerThatGivesAnotherSessionEndsTheLeasesAtThatMoment(t *testing.T) {
	zktest.Bubble(t, func(t *testing.T) {
		w := &env{&clienttest.Env{T: t, Server: zktest.New(t), States: &clienttest.States{}}}
		w.Link = w.Server.NewLink()
		w.Client = w.Dial("zk:2181", framework.WithStateListener(w.States.Hear), framework.WithDialer(
			func(ctx context.Context, network, address string) (net.Conn, error) {
				conn, err := w.Link.DialContext(ctx, network, address)
				if err != nil {
					return nil, err
				}
				return &forgetful{Conn: conn}, nil
			}))
		w.Connected()
		h := w.Bind()
		first := w.Session()
		time.Sleep(2 * clienttest.SessionTimeout)
		cut := time.Now()
		w.Link.Reset()
		<-first.Done()
		if d := time.Since(cut); d != 0 || h.Err() == nil || !h.Ended() {
			t.Errorf("the session ended %v after the connection; the hold says %v", d, h.Err())
		}
		if next := w.Session(); next == first || time.Since(cut) > time.Second {
			t.Errorf("there is a new session after %v", time.Since(cut))
		}
		synctest.Wait()
		w.States.Want(t, connected, suspended, lost, reconnected)
		if n := len(w.Server.Sessions()); n != 2 { // the client's, and the old one, which the server lets expire
			t.Errorf("%d sessions at the server", n)
		}
	})
}

func TestSessionsThatKeepEndingYoungAreOpenedWithGrowingPauses(t *testing.T) {
	bubble(t, func(t *testing.T, w *env) {
		end := func() {
			w.Eventually("a session", func() bool { return len(w.Server.Sessions()) > 0 })
			w.Server.ExpireSession(w.Server.Sessions()[0].ID)
		}
		var opened []time.Duration
		for range 12 {
			before := time.Now()
			end()
			opened = append(opened, time.Since(before))
		}
		// The pause before the reconnection, which learns of the end, is 20 ms at most.
		if opened[1] > 40*time.Millisecond {
			t.Errorf("the session after the first that ended young came after %v", opened[1])
		}
		most := clienttest.SessionTimeout / 2
		if last := opened[11]; last < most/2 || last > most+40*time.Millisecond {
			t.Errorf("the sessions came after %v, want pauses of up to %v at last", opened, most)
		}
		// One that has lived long enough makes good for all of them.
		time.Sleep(2 * clienttest.SessionTimeout)
		end()
		before := time.Now()
		w.Eventually("a session", func() bool { return len(w.Server.Sessions()) > 0 })
		if d := time.Since(before); d > 40*time.Millisecond {
			t.Errorf("the session after one of %v came after %v", 2*clienttest.SessionTimeout, d)
		}
	})
}

// The servers grant a session that is over before anything can be answered.
func TestSessionsThatAreShorterThanARoundTripAreNotOpenedAllTheTime(t *testing.T) {
	zktest.Bubble(t, func(t *testing.T) {
		srv := zktest.NewServer(zktest.WithTickTime(time.Millisecond), zktest.WithSessionTimeouts(2*time.Millisecond, 2*time.Millisecond))
		t.Cleanup(func() { srv.Close() })
		w := &env{&clienttest.Env{T: t, Server: srv, Link: srv.NewLink()}}
		w.Link.SetLatency(5 * time.Millisecond)
		var dials atomic.Int64
		w.Client = w.Dial("zk:2181", framework.WithDialer(func(ctx context.Context, network, address string) (net.Conn, error) {
			dials.Add(1)
			return w.Link.DialContext(ctx, network, address)
		}))
		time.Sleep(time.Minute)
		if n := dials.Load(); n < 2 || n > 480 { // two for each session, of which four are opened in a second at most
			t.Errorf("%d connections in a minute", n)
		}
	})
}
