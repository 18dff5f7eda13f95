package server_test

import (
	"bytes"
	"io"
	"net"
	"strings"
	"testing"
	"time"

	"github.com/gocurator/curator/integration/bench/server"
)

// echo is a server that sends back what it gets.
func echo(t *testing.T) string {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { listener.Close() })
	go func() {
		for {
			conn, err := listener.Accept()
			if err != nil {
				return
			}
			go func() {
				defer conn.Close()
				_, _ = io.Copy(conn, conn)
			}()
		}
	}()
	return listener.Addr().String()
}

func dial(t *testing.T, delay time.Duration) net.Conn {
	t.Helper()
	proxy, err := server.Delay(echo(t), delay)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(proxy.Close)
	conn, err := net.Dial("tcp", proxy.Addr)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.Close() })
	return conn
}

func TestProxyDelaysEachWay(t *testing.T) {
	const delay = 20 * time.Millisecond
	conn := dial(t, delay)
	for range 3 {
		begun := time.Now()
		if _, err := conn.Write([]byte("x")); err != nil {
			t.Fatal(err)
		}
		if _, err := io.ReadFull(conn, make([]byte, 1)); err != nil {
			t.Fatal(err)
		}
		if took := time.Since(begun); took < 2*delay {
			t.Errorf("there and back took %v, want at least %v", took, 2*delay)
		}
	}
}

// A link of a second that took one chunk of at most 64 kB at a time would need eight minutes.
func TestProxyDoesNotThrottle(t *testing.T) {
	conn := dial(t, time.Second)
	sent := bytes.Repeat([]byte("0123456789abcdef"), 1<<20)
	go func() {
		for len(sent) > 0 {
			n, err := conn.Write(sent[:1024])
			if err != nil {
				return
			}
			sent = sent[n:]
		}
	}()
	begun := time.Now()
	got := make([]byte, 16<<20)
	if _, err := io.ReadFull(conn, got); err != nil {
		t.Fatal(err)
	}
	if took := time.Since(begun); took > 3*time.Minute {
		t.Errorf("16 MB took %v", took)
	}
	if !bytes.Equal(got[:16], []byte("0123456789abcdef")) || !bytes.Equal(got[len(got)-16:], []byte("0123456789abcdef")) {
		t.Error("something else came than was sent")
	}
}

func TestEachOfSeveralServersHasAProxyOfItsOwn(t *testing.T) {
	const delay = 20 * time.Millisecond
	addrs, stop, err := server.DelayAll(echo(t)+","+echo(t)+","+echo(t), delay)
	if err != nil {
		t.Fatal(err)
	}
	defer stop()
	seen := map[string]bool{}
	for addr := range strings.SplitSeq(addrs, ",") {
		seen[addr] = true
		conn, err := net.Dial("tcp", addr)
		if err != nil {
			t.Fatal(err)
		}
		begun := time.Now()
		if _, err := conn.Write([]byte("x")); err != nil {
			t.Fatal(err)
		}
		if _, err := io.ReadFull(conn, make([]byte, 1)); err != nil {
			t.Fatal(err)
		}
		if took := time.Since(begun); took < 2*delay {
			t.Errorf("there and back took %v, want at least %v", took, 2*delay)
		}
		conn.Close()
	}
	if len(seen) != 3 {
		t.Errorf("got the proxies %s, want three", addrs)
	}
}
