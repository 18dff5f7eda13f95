package transport_test

import (
	"context"
	"errors"
	"net"
	"testing"
	"time"

	"github.com/go-zookeeper/zk"

	"github.com/gocurator/curator/framework/internal/transport"
	"github.com/gocurator/curator/framework/zktest"
)

// A tunnel is a connection that knows no deadlines, as those through SSH.
type tunnel struct {
	net.Conn
	refuses bool // says so
}

func (c tunnel) SetDeadline(time.Time) error {
	if c.refuses {
		return errors.New("tunnel: deadline not supported")
	}
	return nil
}
func (c tunnel) SetReadDeadline(at time.Time) error  { return c.SetDeadline(at) }
func (c tunnel) SetWriteDeadline(at time.Time) error { return c.SetDeadline(at) }

// tunnelled dials connections without deadlines, whatever the dialer gives.
func tunnelled(dial dialFunc, refuses bool) dialFunc {
	return func(ctx context.Context, network, address string) (net.Conn, error) {
		raw, err := dial(ctx, network, address)
		if err != nil {
			return nil, err
		}
		return tunnel{raw, refuses}, nil
	}
}

func TestASilentServerIsLeftAlsoThroughATunnel(t *testing.T) {
	for _, refuses := range []bool{false, true} {
		zktest.Bubble(t, func(t *testing.T) {
			link := server(t).NewLink()
			_, heard := start(t, tunnelled(link.DialContext, refuses))
			attach(t, heard)
			time.Sleep(timeout)
			link.Mute()
			before := time.Now()
			eventually(t, "detached", func() bool { return heard.count("detached") > 0 })
			if d := time.Since(before); d > timeout*2/3+100*time.Millisecond {
				t.Errorf("left after %v", d)
			}
			failures := heard.count("failed")
			eventually(t, "a handshake that is not answered is given up", func() bool { return heard.count("failed") >= failures+1 })
			link.Heal()
			eventually(t, "attached again", func() bool { return heard.count("attached") > 1 })
		})
	}
}

func TestAServerThatReadsNothingIsLeftAlsoThroughATunnel(t *testing.T) {
	zktest.Bubble(t, func(t *testing.T) {
		tr, heard := start(t, tunnelled(scripted(t, func(conn net.Conn) {
			if welcome(conn, 7, 12000) {
				for { // events keep the connection alive
					time.Sleep(time.Second)
					if _, err := conn.Write(reply(-1, 0, 0, []byte{0, 0, 0, 3, 0, 0, 0, 3, 0, 0, 0, 2, '/', 'a'})); err != nil {
						return
					}
				}
			}
		}), false))
		attach(t, heard)
		before := time.Now()
		tr.Send(transport.Exists("/", false, func(*zk.Stat, error) {}))
		eventually(t, "detached", func() bool { return heard.count("detached") > 0 })
		if d := time.Since(before); d > timeout*2/3+100*time.Millisecond {
			t.Errorf("left after %v", d)
		}
	})
}
