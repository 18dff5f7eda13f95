package zktest_test

import (
	"encoding/binary"
	"io"
	"net"
	"testing"
	"testing/synctest"
	"time"

	"github.com/gocurator/curator/framework/zktest"
)

// In a bubble, how many hours of idle sessions of 10 s, which ping every third
// of that, pass in a second.
func BenchmarkBubbleIdleSessions(b *testing.B) {
	const sessions, hour = 20, time.Hour
	for b.Loop() {
		bubbled(b, func(srv *zktest.Server) {
			end := time.Now().Add(hour)
			done := make(chan struct{})
			for range sessions {
				nc, _ := attach(b, srv, nil)
				go func() {
					defer func() { done <- struct{}{} }()
					defer nc.Close()
					ping := request(zktest.OpPing, "")[:12]
					binary.BigEndian.PutUint32(ping, 8)
					answer := make([]byte, 20)
					for time.Now().Before(end) {
						time.Sleep(10 * time.Second / 3)
						nc.Write(ping)
						if _, err := io.ReadFull(nc, answer); err != nil {
							b.Error(err)
							return
						}
					}
				}()
			}
			for range sessions {
				<-done
			}
		})
	}
	b.ReportMetric(float64(b.N)*sessions/b.Elapsed().Seconds(), "session-hours/s")
}

// In a bubble, how many times in a second a session takes and leaves a lock:
// it creates its node, lists the directory and deletes the node.
func BenchmarkBubbleLockCycles(b *testing.B) {
	bubbled(b, func(srv *zktest.Server) {
		if err := srv.Create("/lock", nil); err != nil {
			b.Fatal(err)
		}
		nc, _ := attach(b, srv, nil)
		defer nc.Close()
		acl := []byte{0, 0, 0, 1, 0, 0, 0, 31, 0, 0, 0, 5, 'w', 'o', 'r', 'l', 'd', 0, 0, 0, 6, 'a', 'n', 'y', 'o', 'n', 'e'}
		enter := request(zktest.OpCreate, "/lock/n", append(append([]byte{0, 0, 0, 0}, acl...), 0, 0, 0, 3)...)
		list := request(zktest.OpGetChildren, "/lock", 0)
		for range b.N {
			path := string(answer(b, nc, enter)[20:])
			answer(b, nc, list)
			answer(b, nc, request(zktest.OpDelete, path, 0xff, 0xff, 0xff, 0xff))
		}
	})
	b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "cycles/s")
}

// answer sends a request and returns its answer without the length.
func answer(b *testing.B, nc net.Conn, req []byte) []byte {
	if _, err := nc.Write(req); err != nil {
		b.Fatal(err)
	}
	head := make([]byte, 4)
	if _, err := io.ReadFull(nc, head); err != nil {
		b.Fatal(err)
	}
	body := make([]byte, binary.BigEndian.Uint32(head))
	if _, err := io.ReadFull(nc, body); err != nil {
		b.Fatal(err)
	}
	return body
}

// bubbled runs f in a bubble, with a server that starts there. Failures are reported to the benchmark, not to the
// bubble's own test; the benchmark's clock must not be asked inside.
func bubbled(b *testing.B, f func(srv *zktest.Server)) {
	synctest.Test(&testing.T{}, func(*testing.T) {
		srv := zktest.NewServer()
		defer srv.Close()
		f(srv)
	})
}
