package transport_test

import (
	"context"
	"encoding/binary"
	"errors"
	"net"
	"testing"
	"time"

	"github.com/go-zookeeper/zk"

	"github.com/gocurator/curator/framework/internal/transport"
	"github.com/gocurator/curator/framework/zktest"
)

// A server that says so refuses every further request of the connection. Only another handshake can show whether the
// session lives, and the answer must not renew leases.
func TestAServerThatSaysThatTheSessionIsNotItsOwnIsLeftForAnother(t *testing.T) {
	for code, want := range map[int32]error{-112: zk.ErrSessionExpired, -118: zk.ErrSessionMoved} {
		t.Run(want.Error(), func(t *testing.T) {
			zktest.Bubble(t, func(t *testing.T) {
				var dialed []string
				serve := answering(t, func(xid, _ int32) []byte {
					if len(dialed) == 1 {
						return reply(xid, 1, code, nil)
					}
					return reply(xid, 1, 0, []byte{0, 0, 0, 1, '/'})
				})
				tr, heard := start(t, func(ctx context.Context, network, address string) (net.Conn, error) {
					dialed = append(dialed, address)
					return serve(ctx, network, address)
				}, func(c *transport.Config) {
					c.Route = transport.NewRoute(func(context.Context) []string { return []string{"a:2181", "b:2181"} }, nil)
				})
				attach(t, heard)
				var got error
				ask := func(done func()) *transport.Call {
					return transport.Sync("/", func(err error) {
						defer done()
						got = err
					})
				}
				do(t, tr, ask)
				if !errors.Is(got, want) || !errors.Is(got, transport.ErrBroken) {
					t.Errorf("got %v, want a broken connection, and %v", got, want)
				}
				if n := len(heard.answers()); n > 0 {
					t.Errorf("got %d answers that renew leases, want none", n)
				}
				eventually(t, "attached again", func() bool { return heard.count("attached") == 2 })
				if do(t, tr, ask); got != nil {
					t.Errorf("got %v on the next connection, want an answer", got)
				}
				if len(dialed) != 2 || dialed[0] == dialed[1] {
					t.Errorf("got connections to %q, want one to each of two servers", dialed)
				}
			})
		})
	}
}

// A server whose leader is about to end the session, or has it on another connection, refuses a transaction's parts
// under a header without an error. That is no sign of the session's life: leases are not renewed by it.
func TestATransactionWhosePartsSayThatTheSessionIsNotTheServersIsNoAnswer(t *testing.T) {
	for code, want := range map[int32]error{-112: zk.ErrSessionExpired, -118: zk.ErrSessionMoved} {
		t.Run(want.Error(), func(t *testing.T) {
			zktest.Bubble(t, func(t *testing.T) {
				tr, heard := start(t, answering(t, func(xid, _ int32) []byte {
					var body []byte
					for _, field := range []struct {
						op   int32
						last byte
						code int32
					}{{-1, 0, code}, {-1, 1, -1}} {
						body = binary.BigEndian.AppendUint32(body, uint32(field.op))
						body = append(body, field.last)
						body = binary.BigEndian.AppendUint32(body, uint32(field.code))
						if field.last == 0 {
							body = binary.BigEndian.AppendUint32(body, uint32(field.code))
						}
					}
					return reply(xid, 1, 0, body)
				}))
				attach(t, heard)
				var got error
				do(t, tr, func(done func()) *transport.Call {
					return transport.Multi([]transport.Op{transport.CheckOp("/", -1)}, func(_ []transport.OpResult, err error) {
						defer done()
						got = err
					})
				})
				if !errors.Is(got, want) || !errors.Is(got, transport.ErrBroken) {
					t.Errorf("got %v, want a broken connection, and %v", got, want)
				}
				for _, a := range heard.answers() {
					if a.reach == transport.ReachMajority {
						t.Errorf("got an answer %+v, want none that a majority has written down", a)
					}
				}
				eventually(t, "detached", func() bool { return heard.count("detached") > 0 })
			})
		})
	}
}

// What is proved by an answer is counted from its arrival: a time that is too early would make a lease too long.
func TestAnAnswerHasNotComeBeforeItsLastByte(t *testing.T) {
	zktest.Bubble(t, func(t *testing.T) {
		var last time.Time
		tr, heard := start(t, scripted(t, func(conn net.Conn) {
			if !welcome(conn, 7, 12000) {
				return
			}
			var both []byte
			for range 2 {
				frame, ok := request(conn)
				if !ok {
					return
				}
				xid, _ := xidAndOp(frame)
				both = append(both, reply(xid, 1, 0, []byte{0, 0, 0, 1, '/'})...)
			}
			conn.Write(both[:len(both)-1]) // the first answer, and most of the second
			time.Sleep(time.Second)
			last = time.Now()
			conn.Write(both[len(both)-1:])
			drain(conn)
		}))
		attach(t, heard)
		asked := time.Now()
		tr.Send(transport.Sync("/", func(error) {}), transport.Sync("/", func(error) {}))
		eventually(t, "answered", func() bool { return len(heard.answers()) == 2 })
		for i, not := range []time.Time{asked, last} {
			if got := heard.answers()[i]; got.received.Before(not) || got.sent.Before(asked) {
				t.Errorf("answer %d was sent at %v and came at %v, want not before %v", i, got.sent, got.received, not)
			}
		}
	})
}
