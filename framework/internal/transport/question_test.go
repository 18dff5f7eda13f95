package transport_test

import (
	"context"
	"encoding/binary"
	"errors"
	"net"
	"sync/atomic"
	"testing"
	"time"

	"github.com/gocurator/curator/framework/internal/transport"
	"github.com/gocurator/curator/framework/zktest"
)

// aged serves as a server that hangs up on handshakes that have seen anything, and is asked for its newest zxid then.
func aged(conn net.Conn, question func(conn net.Conn)) {
	frame, ok := request(conn)
	if ok && binary.BigEndian.Uint64(frame[4:]) == 0 {
		question(conn)
	}
}

// asked answers a question's handshake and reads its sync and its read, whose xids it returns.
func asked(conn net.Conn) (sync, read int32, ok bool) {
	if _, err := conn.Write(welcomeFrame(1, 12000)); err != nil {
		return 0, 0, false
	}
	first, _ := request(conn)
	second, ok := request(conn)
	if !ok {
		return 0, 0, false
	}
	sync, _ = xidAndOp(first)
	read, _ = xidAndOp(second)
	return sync, read, true
}

// silence reads until the client hangs up.
func silence(conn net.Conn) {
	for _, ok := request(conn); ok; _, ok = request(conn) {
	}
}

func TestAQuestionEndsAlsoThroughATunnel(t *testing.T) {
	for name, question := range map[string]func(conn net.Conn){
		"no handshake":  silence,
		"no answer":     func(conn net.Conn) { _, _, _ = asked(conn); silence(conn) },
		"takes nothing": func(conn net.Conn) { _, _ = conn.Write(welcomeFrame(1, 12000)); time.Sleep(time.Hour) },
		"no end of the session": func(conn net.Conn) {
			if sync, read, ok := asked(conn); ok {
				_, _ = conn.Write(append(reply(sync, 5, 0, nil), reply(read, 5, 0, nil)...))
				silence(conn)
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			zktest.Bubble(t, func(t *testing.T) {
				var questions atomic.Int64
				tr, _ := start(t, tunnelled(scripted(t, func(conn net.Conn) {
					aged(conn, func(conn net.Conn) {
						questions.Add(1)
						question(conn)
					})
				}), false), func(c *transport.Config) { c.LastZxid = 77 })
				time.Sleep(time.Minute)
				if n := questions.Load(); n < 3 {
					t.Errorf("%d questions in a minute", n)
				}
				before := time.Now()
				tr.Close(time.Second)
				if d := time.Since(before); d > time.Second {
					t.Errorf("Close took %v", d)
				}
			})
		})
	}
}

func TestAServerThatHangsUpOnItsOwnZxidKeepsNoClientFromTheOthers(t *testing.T) {
	zktest.Bubble(t, func(t *testing.T) {
		good := server(t)
		bad := scripted(t, func(conn net.Conn) {
			aged(conn, func(conn net.Conn) {
				if sync, read, ok := asked(conn); ok {
					_, _ = conn.Write(append(reply(sync, 77, 0, nil), reply(read, 77, 0, nil)...))
					request(conn)
				}
			})
		})
		dials := map[string]int{}
		_, heard := start(t, func(ctx context.Context, network, address string) (net.Conn, error) {
			dials[address]++
			if address == "good" && dials["bad"] > 0 { // not before the other one was tried
				return good.DialContext(ctx, network, address)
			}
			return bad(ctx, network, address)
		}, func(c *transport.Config) {
			c.Route = transport.NewRoute(func(context.Context) []string { return []string{"bad", "good"} }, nil)
			c.LastZxid = 1
		})
		time.Sleep(10 * time.Second)
		if heard.count("attached") == 0 || dials["bad"] > 20 {
			t.Errorf("dialed %v", dials)
		}
	})
}

// A server that answers the read ahead of the sync may be behind: its answer is not compared.
func TestAQuestionThatIsAnsweredOutOfOrderTellsNothing(t *testing.T) {
	zktest.Bubble(t, func(t *testing.T) {
		_, heard := start(t, scripted(t, func(conn net.Conn) {
			aged(conn, func(conn net.Conn) {
				if sync, read, ok := asked(conn); ok {
					_, _ = conn.Write(append(reply(read, 5, 0, nil), reply(sync, 77, 0, nil)...))
					request(conn)
				}
			})
		}), func(c *transport.Config) { c.LastZxid = 77 })
		time.Sleep(10 * time.Second)
		if heard.count("restarted 77 5") > 0 {
			t.Errorf("got the events %v", heard.all())
		}
	})
}

// No server answers a sync as it answers an authentication.
func TestAQuestionThatIsAnsweredLikeAnAuthenticationRefusesNoClient(t *testing.T) {
	zktest.Bubble(t, func(t *testing.T) {
		_, heard := start(t, scripted(t, func(conn net.Conn) {
			aged(conn, func(conn net.Conn) {
				if sync, _, ok := asked(conn); ok {
					_, _ = conn.Write(reply(sync, 0, authFailed, nil))
					request(conn)
				}
			})
		}), func(c *transport.Config) { c.LastZxid = 77 })
		time.Sleep(10 * time.Second)
		if err := heard.failure(t); errors.Is(err, transport.ErrAuth) || heard.count("failed") < 3 {
			t.Errorf("got %v after %d attempts, want more attempts", err, heard.count("failed"))
		}
	})
}
