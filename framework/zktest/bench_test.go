package zktest_test

import (
	"bufio"
	"encoding/binary"
	"io"
	"net"
	"runtime"
	"sync"
	"testing"
	"time"

	"github.com/go-zookeeper/zk"

	"github.com/gocurator/curator/framework/zktest"
)

func request(op zktest.Op, path string, rest ...byte) []byte {
	b := binary.BigEndian.AppendUint32(nil, uint32(12+len(path)+len(rest)))
	b = binary.BigEndian.AppendUint32(b, 1)
	b = binary.BigEndian.AppendUint32(b, uint32(op))
	b = append(binary.BigEndian.AppendUint32(b, uint32(len(path))), path...)
	return append(b, rest...)
}

// pipelined sends n times the same request and reads the answers.
func pipelined(tb testing.TB, nc net.Conn, req []byte, n int) {
	go func() {
		w := bufio.NewWriterSize(nc, 64<<10)
		for range n {
			w.Write(req)
		}
		w.Flush()
	}()
	r := bufio.NewReaderSize(nc, 64<<10)
	var head [4]byte
	for range n {
		if _, err := io.ReadFull(r, head[:]); err != nil {
			tb.Error(err)
			return
		}
		if _, err := r.Discard(int(binary.BigEndian.Uint32(head[:]))); err != nil {
			tb.Error(err)
			return
		}
	}
}

// One client that pipelines over loopback TCP.
func BenchmarkPipelined(b *testing.B) {
	for _, bm := range []struct {
		name string
		req  []byte
	}{
		{"getData", request(zktest.OpGetData, "/a", 0)},
		{"setData", request(zktest.OpSetData, "/a", 0, 0, 0, 1, 'x', 0xff, 0xff, 0xff, 0xff)},
	} {
		b.Run(bm.name, func(b *testing.B) {
			srv := zktest.NewServer()
			defer srv.Close()
			if err := srv.Create("/a", []byte("0123456789")); err != nil {
				b.Fatal(err)
			}
			nc, err := net.Dial("tcp", srv.Addr())
			if err != nil {
				b.Fatal(err)
			}
			defer nc.Close()
			handshakeAs(b, nc, nil)
			b.ResetTimer()
			pipelined(b, nc, bm.req, b.N)
			b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "ops/s")
		})
	}
}

// go-zookeeper with 64 goroutines on one connection: the server must not be
// what limits it.
func BenchmarkGoZookeeper(b *testing.B) {
	srv := zktest.NewServer()
	defer srv.Close()
	c := dial(b, srv.Dial, time.Minute)
	if _, err := c.Create("/a", nil, 0, all); err != nil {
		b.Fatal(err)
	}
	b.ResetTimer()
	inParallel(b, c, 64)
	b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "ops/s")
}

func inParallel(b *testing.B, c *zk.Conn, goroutines int) {
	var group sync.WaitGroup
	for range goroutines {
		group.Go(func() {
			for range b.N/goroutines + 1 {
				if _, _, err := c.Exists("/a"); err != nil {
					b.Error(err)
					return
				}
			}
		})
	}
	group.Wait()
}

func heap() uint64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.HeapAlloc + m.StackInuse
}

// What an idle session costs, over in-memory connections, both ends included.
func BenchmarkIdleSessions(b *testing.B) {
	const sessions = 10_000
	for b.Loop() {
		srv := zktest.NewServer()
		before := heap()
		conns := make([]net.Conn, sessions)
		for i := range conns {
			conns[i], _ = srv.Dial("", "", 0)
			handshakeAs(b, conns[i], nil)
		}
		b.ReportMetric(float64(heap()-before)/sessions, "B/session")
		runtime.KeepAlive(conns)
		srv.Close()
	}
}

func BenchmarkMillionNodes(b *testing.B) {
	const nodes = 1_000_000
	for b.Loop() {
		srv := zktest.NewServer()
		before := heap()
		fill(b, srv, nodes)
		b.ReportMetric(float64(heap()-before)/(1<<20), "MiB")
		b.ReportMetric(nodes/b.Elapsed().Seconds(), "creates/s")
		srv.Close()
	}
}

func fill(b *testing.B, srv *zktest.Server, nodes int) {
	nc, err := srv.Dial("", "", 0)
	if err != nil {
		b.Fatal(err)
	}
	defer nc.Close()
	handshakeAs(b, nc, nil)
	acl := []byte{0, 0, 0, 1, 0, 0, 0, 31, 0, 0, 0, 5, 'w', 'o', 'r', 'l', 'd', 0, 0, 0, 6, 'a', 'n', 'y', 'o', 'n', 'e'}
	data := append([]byte{0, 0, 0, 10}, "0123456789"...)
	for range 100 {
		pipelined(b, nc, request(zktest.OpCreate, "/d", append(append(data[:14:14], acl...), 0, 0, 0, 2)...), 1)
	}
	for i, dir := range srv.Children("/") {
		if i < 100 {
			pipelined(b, nc, request(zktest.OpCreate, "/"+dir+"/n", append(append(data[:14:14], acl...), 0, 0, 0, 2)...), nodes/100)
		}
	}
}
