package zktest_test

import (
	"errors"
	"io"
	"net"
	"os"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-zookeeper/zk"

	"github.com/gocurator/curator/framework/zktest"
)

func TestMutedLinkSwallowsEverythingUntilHealed(t *testing.T) {
	bubble(t, func(t *testing.T, srv *zktest.Server) {
		link := srv.NewLink()
		nc := must[net.Conn](t)(link.Dial("tcp", "server:2181", time.Second))
		id := handshakeAs(t, nc, nil)
		link.Mute()
		if answered(nc, request(zktest.OpSync, "/")) {
			t.Fatal("got an answer over a mute link, want none")
		}
		if srv.Connections() != 1 {
			t.Fatalf("got %d connections, want 1, which the server takes for alive", srv.Connections())
		}
		fresh := must[net.Conn](t)(link.Dial("tcp", "server:2181", time.Second))
		fresh.SetReadDeadline(time.Now().Add(time.Second))
		fresh.Write(make([]byte, 48))
		if _, err := fresh.Read(make([]byte, 1)); !errors.Is(err, os.ErrDeadlineExceeded) {
			t.Fatal(err)
		}
		link.Heal()
		for _, c := range []net.Conn{nc, fresh} {
			c.SetReadDeadline(time.Time{})
			if _, err := c.Read(make([]byte, 1)); !errors.Is(err, syscall.ECONNRESET) {
				t.Fatal(err)
			}
		}
		synctest.Wait()
		if srv.Connections() != 0 {
			t.Fatalf("got %d connections, want none", srv.Connections())
		}
		again := must[net.Conn](t)(link.Dial("tcp", "server:2181", time.Second))
		handshakeAs(t, again, id)
		if !answered(again, request(zktest.OpSync, "/")) {
			t.Fatal("got no answer after the link was healed, want one")
		}
		again.Close()
	})
}

func TestMuteSwallowsWhatIsUnderWay(t *testing.T) {
	bubble(t, func(t *testing.T, srv *zktest.Server) {
		link := srv.NewLink()
		nc := must[net.Conn](t)(link.Dial("tcp", "server:2181", time.Second))
		handshakeAs(t, nc, nil)
		link.SetLatency(10 * time.Millisecond)
		nc.Write(request(zktest.OpGetData, "/", 0))
		time.Sleep(5 * time.Millisecond)
		link.Mute()
		time.Sleep(time.Second)
		if n := srv.Counts()[zktest.OpGetData]; n != 0 {
			t.Fatal(n)
		}
	})
}

func TestCutAndReset(t *testing.T) {
	bubble(t, func(t *testing.T, srv *zktest.Server) {
		link, other := srv.NewLink(), srv.NewLink()
		bystander := must[net.Conn](t)(other.Dial("tcp", "server:2181", 0))
		handshakeAs(t, bystander, nil)
		nc := must[net.Conn](t)(link.Dial("tcp", "server:2181", 0))
		handshakeAs(t, nc, nil)
		link.Reset()
		if _, err := nc.Read(make([]byte, 1)); !errors.Is(err, syscall.ECONNRESET) {
			t.Fatal(err)
		}
		if _, err := nc.Write([]byte{1}); !errors.Is(err, syscall.ECONNRESET) {
			t.Fatal(err)
		}
		must[net.Conn](t)(link.Dial("tcp", "server:2181", 0))
		link.Cut()
		if _, err := link.Dial("tcp", "server:2181", 0); !errors.Is(err, syscall.ECONNREFUSED) {
			t.Fatal(err)
		}
		link.Heal()
		must[net.Conn](t)(link.DialContext(t.Context(), "tcp", "server:2181"))
		if !answered(bystander, request(zktest.OpSync, "/")) {
			t.Fatal("got no answer over another link, want one")
		}
		srv.RefuseConnections(true)
		if _, err := link.Dial("tcp", "server:2181", 0); !errors.Is(err, syscall.ECONNREFUSED) {
			t.Fatal(err)
		}
	})
}

func TestConnectionIsANetConn(t *testing.T) {
	bubble(t, func(t *testing.T, srv *zktest.Server) {
		link := srv.NewLink()
		link.SetLatency(10 * time.Millisecond)
		start := time.Now()
		nc := must[net.Conn](t)(link.Dial("tcp", "server:2181", time.Second))
		if d := time.Since(start); d != 20*time.Millisecond {
			t.Fatal(d)
		}
		if _, err := link.Dial("tcp", "server:2181", 15*time.Millisecond); !errors.Is(err, os.ErrDeadlineExceeded) {
			t.Fatal(err)
		}
		set := make(chan struct{})
		go func() { // a deadline that is set while a Read waits takes effect
			defer close(set)
			time.Sleep(time.Second)
			nc.SetDeadline(time.Now())
		}()
		start = time.Now()
		_, err := nc.Read(make([]byte, 1))
		var timeout net.Error
		if !errors.As(err, &timeout) || !timeout.Timeout() || time.Since(start) != time.Second {
			t.Fatal(err, time.Since(start))
		}
		<-set // Read may end before the deadline of Write is set
		if _, err := nc.Write([]byte{0}); !errors.Is(err, os.ErrDeadlineExceeded) {
			t.Fatal(err)
		}
		nc.SetDeadline(time.Time{})
		handshakeAs(t, nc, nil)
		nc.Write(request(zktest.OpCloseSession, ""))
		if b, err := io.ReadAll(nc); err != nil || len(b) != 20 {
			t.Fatal(b, err)
		}
		if err := nc.Close(); err != nil {
			t.Fatal(err)
		}
		if _, err := nc.Read(make([]byte, 1)); !errors.Is(err, net.ErrClosed) {
			t.Fatal(err)
		}
		if err := nc.Close(); !errors.Is(err, net.ErrClosed) {
			t.Fatal(err)
		}
	})
}

func TestReadOnlyServer(t *testing.T) {
	bubble(t, func(t *testing.T, srv *zktest.Server) {
		srv.SetReadOnly(true)
		nc := must[net.Conn](t)(srv.Dial("", "", 0))
		nc.Write(append([]byte{0, 0, 0, 44}, make([]byte, 44)...))
		if _, err := nc.Read(make([]byte, 1)); err != io.EOF {
			t.Fatal(err)
		}
		nc = must[net.Conn](t)(srv.Dial("", "", 0))
		hello := append([]byte{0, 0, 0, 29}, make([]byte, 29)...)
		hello[32] = 1
		nc.Write(hello)
		in := make([]byte, 41)
		if _, err := io.ReadFull(nc, in); err != nil || in[40] != 1 {
			t.Fatal(in, err)
		}
		if !answered(nc, request(zktest.OpExists, "/", 0)) || answered(nc, request(zktest.OpDelete, "/a", 0, 0, 0, 0)) {
			t.Fatal("got another pair of answers, want one to the read and none to the write")
		}
	})
}

func TestOlderServersRefuseNewerRequests(t *testing.T) {
	bubble(t, func(t *testing.T, srv *zktest.Server) {
		c := dial(t, srv.Dial, time.Second)
		must[string](t)(c.Create("/a", nil, 0, all))
		if _, err := c.CreateContainer("/c", nil, zk.FlagContainer, all); err == nil {
			t.Fatal("got a container at 3.4, want a refusal")
		}
		if srv.Exists("/c") {
			t.Fatal("got /c, want nothing created")
		}
	}, zktest.WithVersion("3.4"))
}
