package transport_test

import (
	"context"
	"errors"
	"io"
	"net"
	"sync/atomic"
	"testing"
	"time"

	"github.com/gocurator/curator/framework/internal/transport"
	"github.com/gocurator/curator/framework/zktest"
)

var errRefused = errors.New("refused")

// once dials one connection, and fails from then on.
func once(conn net.Conn, after time.Duration) dialFunc {
	var dials atomic.Int64
	return func(context.Context, string, string) (net.Conn, error) {
		if dials.Add(1) > 1 {
			return nil, errRefused
		}
		time.Sleep(after)
		return conn, nil
	}
}

// wantClosed fails unless the other side of a connection closes it within a minute, without a word.
func wantClosed(t *testing.T, conn net.Conn) {
	t.Helper()
	_ = conn.SetReadDeadline(time.Now().Add(time.Minute))
	if n, err := conn.Read(make([]byte, 1)); n != 0 || !errors.Is(err, io.EOF) {
		t.Errorf("got %d bytes, %v, want the connection closed", n, err)
	}
}

func TestAConnectionThatADialerReturnsTooLateIsClosed(t *testing.T) {
	zktest.Bubble(t, func(t *testing.T) {
		client, peer := net.Pipe()
		start(t, once(client, 10*time.Second)) // an attempt may take four
		wantClosed(t, peer)
	})
}

func TestAConnectionThatCannotBeSecuredIsClosed(t *testing.T) {
	zktest.Bubble(t, func(t *testing.T) {
		client, peer := net.Pipe()
		start(t, once(client, 0), func(c *transport.Config) {
			c.Secure = func(context.Context, net.Conn, string) (net.Conn, error) { return nil, errRefused }
		})
		wantClosed(t, peer)
	})
}
