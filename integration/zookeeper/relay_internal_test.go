//go:build unix

package zookeeper

import (
	"errors"
	"io"
	"net"
	"os"
	"testing"
	"time"

	"github.com/gocurator/curator/framework/zktest/await"
)

func TestResetIsNoGoodbye(t *testing.T) {
	t.Parallel()
	server, err := listen()
	if err != nil {
		t.Fatal(err)
	}
	defer server.Close()
	p, err := newProxy(server.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	p.start()
	defer p.close()

	// In half of the rounds a pump has just written, so that both are awake when the reset comes.
	for round := range 2000 {
		client, err := net.Dial("tcp", p.addr())
		if err != nil {
			t.Fatal(err)
		}
		accepted, err := server.Accept()
		if err != nil {
			t.Fatal(err)
		}
		exchange(t, client, accepted)
		if round%2 == 1 {
			exchange(t, accepted, client)
		}
		p.links().Reset()
		for name, conn := range map[string]net.Conn{"client": client, "server": accepted} {
			_, err := io.ReadAll(conn)
			if errors.Is(err, os.ErrDeadlineExceeded) {
				await.Fatalf(t, "round %d: the connection of the %s to break after a reset: %v", round, name, err)
			}
			if err == nil {
				t.Fatalf("round %d: after a reset the %s reads %v, want a broken connection", round, name, err)
			}
			conn.Close()
		}
	}
}

// exchange has one end say a word, and the other read it.
func exchange(t *testing.T, from, to net.Conn) {
	t.Helper()
	deadline := time.Now().Add(time.Minute)
	if err := errors.Join(from.SetDeadline(deadline), to.SetDeadline(deadline)); err != nil {
		t.Fatal(err)
	}
	if _, err := io.WriteString(from, "word"); err != nil {
		t.Fatal(err)
	}
	_, err := io.ReadFull(to, make([]byte, len("word")))
	if errors.Is(err, os.ErrDeadlineExceeded) {
		await.Fatalf(t, "a word: %v", err)
	}
	if err != nil {
		t.Fatal(err)
	}
}
