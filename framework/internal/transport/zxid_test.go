package transport_test

import (
	"encoding/binary"
	"net"
	"sync/atomic"
	"testing"

	"github.com/go-zookeeper/zk"

	"github.com/gocurator/curator/framework/internal/transport"
	"github.com/gocurator/curator/framework/zktest"
)

// A server that has once answered with zxid 1000 is away. At its address answers a program that is no ZooKeeper, or no
// sane one. Neither makes the client forget how far the servers have come, and accept one that is behind.
func TestGarbageOfOneServerDoesNotTakeBackWhatAnotherHasTold(t *testing.T) {
	const last = 20 // more than the refusals by which a claim is given up
	for name, garble := range map[string]func(conn net.Conn){
		"instead of a handshake": func(conn net.Conn) {
			request(conn)
			conn.Write([]byte("HTTP/1.1 400 Bad Request\r\n\r\n"))
		},
		"after it": func(conn net.Conn) {
			welcome(conn, 7, 12000)
			conn.Write(reply(12345, 2000, 0, nil))
			drain(conn)
		},
	} {
		t.Run(name, func(t *testing.T) {
			zktest.Bubble(t, func(t *testing.T) {
				var connections atomic.Int32
				var seen atomic.Int64 // by the last handshake
				tr, heard := start(t, scripted(t, func(conn net.Conn) {
					switch n := connections.Add(1); {
					case n == 1:
						if welcome(conn, 7, 12000) {
							if frame, ok := request(conn); ok {
								xid, _ := xidAndOp(frame)
								conn.Write(reply(xid, 1000, -101, nil)) // no such node
							}
						}
					case n <= last:
						garble(conn)
					default:
						if frame, ok := request(conn); ok {
							seen.Store(int64(binary.BigEndian.Uint64(frame[4:])))
							conn.Write(welcomeFrame(7, 12000))
							drain(conn)
						}
					}
				}))
				attach(t, heard)
				do(t, tr, func(done func()) *transport.Call {
					return transport.Children("/", false, func([]string, *zk.Stat, error) { done() })
				})
				eventually(t, "a sane server", func() bool { return connections.Load() > last && seen.Load() != 0 })
				if got := seen.Load(); got != 1000 {
					t.Errorf("the last handshake has zxid %d, want 1000", got)
				}
				if heard.count("gave up") > 0 {
					t.Errorf("got the events %v", heard.all())
				}
			})
		})
	}
}
