package transport_test

import (
	"context"
	"encoding/binary"
	"errors"
	"net"
	"strings"
	"testing"
	"time"

	"github.com/go-zookeeper/zk"

	"github.com/gocurator/curator/framework/internal/transport"
	"github.com/gocurator/curator/framework/zktest"
)

func TestAFailedHandshakeIsBoundedAndNamed(t *testing.T) {
	half := welcomeFrame(7, 12000)[:20]
	for name, c := range map[string]struct {
		serve func(conn net.Conn)
		says  string
		takes time.Duration // at least
	}{
		"never answered":   {func(conn net.Conn) { drain(conn) }, "timeout", 2 * time.Second},
		"half answered":    {func(conn net.Conn) { request(conn); conn.Write(half); drain(conn) }, "the server sends nothing", 2 * time.Second},
		"closed":           {func(conn net.Conn) { request(conn) }, "closed the connection without answering", 0},
		"closed half way":  {func(conn net.Conn) { request(conn); conn.Write(half) }, "unexpected EOF", 0},
		"another protocol": {func(conn net.Conn) { request(conn); conn.Write([]byte("HTTP/1.1 400 Bad Request\r\n\r\n")) }, "not the ZooKeeper protocol", 0},
		"oversized":        {func(conn net.Conn) { request(conn); conn.Write(reply(0, 0, 0, make([]byte, 1000))) }, "not the ZooKeeper protocol", 0},
		"negative length":  {func(conn net.Conn) { request(conn); conn.Write([]byte{0xff, 0xff, 0xff, 0xff, 0}) }, "not the ZooKeeper protocol", 0},
		"empty":            {func(conn net.Conn) { request(conn); conn.Write([]byte{0, 0, 0, 0}) }, "not the ZooKeeper protocol", 0},
		"no timeout":       {func(conn net.Conn) { welcome(conn, 7, 0); drain(conn) }, "session timeout of 0s", 0},
		"negative timeout": {func(conn net.Conn) { welcome(conn, 7, -5); drain(conn) }, "session timeout of -5ms", 0},
		"no session":       {func(conn net.Conn) { welcome(conn, 0, 0); drain(conn) }, "no session", 0},
	} {
		t.Run(name, func(t *testing.T) {
			zktest.Bubble(t, func(t *testing.T) {
				before := time.Now()
				_, heard := start(t, scripted(t, c.serve))
				eventually(t, "failed", func() bool { return heard.count("failed") > 0 })
				if err := heard.failure(t); !strings.Contains(err.Error(), c.says) {
					t.Errorf("%q does not say %q", err, c.says)
				}
				if d := time.Since(before); d < c.takes || d > c.takes+time.Second {
					t.Errorf("it took %v", d)
				}
				if heard.count("attached")+heard.count("expired")+heard.count("detached") != 0 {
					t.Errorf("got the events %v", heard.all())
				}
			})
		})
	}
}

// drain reads until the client has gone.
func drain(conn net.Conn) {
	for {
		if _, err := conn.Read(make([]byte, 1000)); err != nil {
			return
		}
	}
}

func TestGarbageAfterTheHandshakeBreaksTheConnection(t *testing.T) {
	for name, garbage := range map[string][]byte{
		"an unknown xid":  reply(12345, 1, 0, nil),
		"too short":       {0, 0, 0, 4, 0, 0, 0, 1},
		"empty":           {0, 0, 0, 0},
		"too long":        binary.BigEndian.AppendUint32(nil, 1<<20+1),
		"a broken event":  reply(-1, 0, 0, []byte{0, 0, 0, 3, 0, 0, 0, 3, 0x7f, 0xff, 0xff, 0xff}),
		"an unasked ping": reply(-2, 0, 0, nil),
	} {
		t.Run(name, func(t *testing.T) {
			zktest.Bubble(t, func(t *testing.T) {
				_, heard := start(t, scripted(t, func(conn net.Conn) {
					if welcome(conn, 7, 12000) {
						conn.Write(garbage)
						drain(conn)
					}
				}))
				eventually(t, "detached", func() bool { return heard.count("detached") > 0 })
				if heard.count("watch") > 0 {
					t.Errorf("got %d events, want none", heard.count("watch"))
				}
			})
		})
	}
}

func TestAnAnswerThatDoesNotFitItsRequestBreaksTheConnection(t *testing.T) {
	zktest.Bubble(t, func(t *testing.T) {
		tr, heard := start(t, answering(t, func(xid, _ int32) []byte {
			return reply(xid, 1, 0, []byte{0x7f, 0xff, 0xff, 0xff}) // two billion children
		}))
		attach(t, heard)
		var got error
		do(t, tr, func(done func()) *transport.Call {
			return transport.Children("/", false, func(names []string, _ *zk.Stat, err error) {
				defer done()
				got = err
			})
		})
		if got == nil || !strings.Contains(got.Error(), "not the ZooKeeper protocol") {
			t.Errorf("got %v", got)
		}
		eventually(t, "detached", func() bool { return heard.count("detached") > 0 })
	})
}

func TestAuthenticationComesFirstOnEveryConnection(t *testing.T) {
	zktest.Bubble(t, func(t *testing.T) {
		srv := zktest.New(t)
		var order []zktest.Op
		srv.Observe(func(r zktest.Request) { order = append(order, r.Op) })
		tr, heard := start(t, srv.DialContext, func(c *transport.Config) {
			c.Auth = []transport.Auth{transport.NewAuth("digest", []byte("a:b")), transport.NewAuth("digest", []byte("c:d"))}
			attached := c.Events.Attached
			c.Events.Attached = func(a transport.Attachment) { attached(a) }
		})
		for i := range 3 {
			eventually(t, "attached", func() bool { return heard.count("attached") == i+1 })
			do(t, tr, func(done func()) *transport.Call { return transport.Sync("/", func(error) { done() }) })
			if len(order) != 3 || order[0] != zktest.OpSetAuth || order[1] != zktest.OpSetAuth || order[2] != zktest.OpSync {
				t.Errorf("the server heard %v", order)
			}
			order = nil
			tr.Break(errors.New("next"))
		}
	})
}

func TestARefusedAuthenticationIsReported(t *testing.T) {
	zktest.Bubble(t, func(t *testing.T) {
		_, heard := start(t, zktest.New(t).DialContext, func(c *transport.Config) {
			c.Auth = []transport.Auth{transport.NewAuth("kerberos", []byte("x"))}
		})
		eventually(t, "failed", func() bool { return heard.count("failed") > 0 })
		if err := heard.failure(t); !errors.Is(err, transport.ErrAuth) {
			t.Errorf("got %v", err)
		}
	})
}

// failing is a connection whose writes fail from the second on.
type failing struct {
	net.Conn
	writes int
}

func (f *failing) Write(p []byte) (int, error) {
	if f.writes++; f.writes > 1 {
		return 0, errors.New("cable cut")
	}
	return f.Conn.Write(p)
}

func TestAFailedWriteBreaksTheConnectionAndNothingElse(t *testing.T) {
	zktest.Bubble(t, func(t *testing.T) {
		srv := server(t)
		good := false
		tr, heard := start(t, func(ctx context.Context, network, address string) (net.Conn, error) {
			raw, err := srv.DialContext(ctx, network, address)
			if good {
				return raw, err
			}
			good = true
			return &failing{Conn: raw}, err
		})
		attach(t, heard)
		do(t, tr, func(done func()) *transport.Call {
			return transport.Sync("/", func(err error) {
				defer done()
				if !errors.Is(err, transport.ErrBroken) {
					t.Errorf("got %v", err)
				}
			})
		})
		eventually(t, "attached again", func() bool { return heard.count("attached") == 2 })
		if heard.attached[0].SessionID != heard.attached[1].SessionID {
			t.Errorf("got session %#x after %#x, want the same",
				heard.attached[1].SessionID, heard.attached[0].SessionID)
		}
	})
}

// lingering is a connection whose first write, the handshake, goes on for a second after the server has all of it.
type lingering struct {
	net.Conn
	begun time.Time // when the first write was asked for
}

func (l *lingering) Write(p []byte) (int, error) {
	first := l.begun.IsZero()
	if first {
		l.begun = time.Now()
	}
	n, err := l.Conn.Write(p)
	if first {
		time.Sleep(time.Second)
	}
	return n, err
}

// The server counts the session from the moment at which the handshake arrives, which may be long before the write
// returns. A later time would give leases more than the server does.
func TestAHandshakeCountsFromBeforeItsWrite(t *testing.T) {
	zktest.Bubble(t, func(t *testing.T) {
		srv := server(t)
		var conn *lingering
		_, heard := start(t, func(ctx context.Context, network, address string) (net.Conn, error) {
			raw, err := srv.DialContext(ctx, network, address)
			conn = &lingering{Conn: raw}
			return conn, err
		})
		attach(t, heard)
		// half a second, since the transport's clock counts suspend, and the bubble's does not
		if got := heard.attached[0].Sent.Sub(conn.begun); got > 500*time.Millisecond {
			t.Errorf("got a handshake that counts from %v after its write began, want it to count from before", got)
		}
	})
}

// Servers take authentication aside: unlike any other request it does not count as a sign of life of the session.
// Between it and the handshake, whose answer may take long, the session may be as old as the handshake.
func TestAnAnswerToAuthenticationRenewsNothing(t *testing.T) {
	zktest.Bubble(t, func(t *testing.T) {
		srv := zktest.New(t)
		tr, heard := start(t, srv.DialContext, func(c *transport.Config) {
			c.Auth = []transport.Auth{transport.NewAuth("digest", []byte("a:b"))}
		})
		attach(t, heard)
		time.Sleep(time.Second)
		if got := heard.answers(); srv.Counts()[zktest.OpSetAuth] != 1 || len(got) != 0 {
			t.Errorf("got %d authentications and the events %v", srv.Counts()[zktest.OpSetAuth], got)
		}
		do(t, tr, func(done func()) *transport.Call { return transport.Ping(func(error) { done() }) })
		if len(heard.answers()) != 1 {
			t.Errorf("got the answers %v", heard.answers())
		}
	})
}

// Pings may overtake other requests, so their zxids may be ahead of those of answers behind them.
func TestPingsTellNoZxid(t *testing.T) {
	zktest.Bubble(t, func(t *testing.T) {
		tr, heard := start(t, answering(t, func(xid, op int32) []byte {
			if op == 11 {
				return reply(xid, 77, 0, nil)
			}
			return reply(xid, 5, 0, []byte{0, 0, 0, 1, '/'})
		}))
		attach(t, heard)
		for range 3 {
			tr.Send(transport.Ping(func(error) {}), transport.Sync("/", func(error) {}))
			time.Sleep(time.Second)
		}
		if heard.count("detached") > 0 || tr.LastZxid() != 5 {
			t.Errorf("got the events %v, the newest zxid is %d", heard.all(), tr.LastZxid())
		}
	})
}
