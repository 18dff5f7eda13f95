package zktest_test

import (
	"encoding/binary"
	"io"
	"net"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/gocurator/curator/framework/zktest"
)

// numbered is a request with an xid of its own.
func numbered(xid uint32, op zktest.Op, path string, rest ...byte) []byte {
	b := request(op, path, rest...)
	binary.BigEndian.PutUint32(b[4:], xid)
	return b
}

// metered makes a raw connection over a link.
func metered(t *testing.T, link *zktest.Link) net.Conn {
	t.Helper()
	nc := must[net.Conn](t)(link.Dial("tcp", "server:2181", 0))
	t.Cleanup(func() { nc.Close() })
	handshakeAs(t, nc, nil)
	return nc
}

// answers reads n frames, events included.
func answers(t *testing.T, nc net.Conn, n int) {
	t.Helper()
	nc.SetReadDeadline(time.Now().Add(time.Minute))
	for range n {
		head := make([]byte, 4)
		if _, err := io.ReadFull(nc, head); err != nil {
			t.Fatal(err)
		}
		io.CopyN(io.Discard, nc, int64(binary.BigEndian.Uint32(head)))
	}
}

func wantMost(t *testing.T, what string, most func() int, want int) {
	t.Helper()
	if got := most(); got != want {
		t.Errorf("%s: got at most %d requests under way, want %d", what, got, want)
	}
}

func TestMostUnderWayCountsWhatIsWrittenAndNotAnswered(t *testing.T) {
	bubble(t, func(t *testing.T, srv *zktest.Server) {
		link := srv.NewLink()
		before := metered(t, link)
		link.SetLatency(10 * time.Millisecond)
		reads, all := link.MostUnderWay(zktest.OpGetData, zktest.OpGetChildren), link.MostUnderWay()
		nc := metered(t, link)
		get := func(xid uint32) []byte { return numbered(xid, zktest.OpGetData, "/", 1) }
		if !answered(before, get(1)) {
			t.Fatal("got no answer, the test needs one")
		}
		wantMost(t, "of an earlier connection", all, 0)

		nc.Write(slices.Concat(get(1), get(2), numbered(3, zktest.OpSync, "/")))
		time.Sleep(15 * time.Millisecond) // the answers are on their way
		nc.Write(numbered(4, zktest.OpGetChildren, "/", 0))
		wantMost(t, "reads", reads, 3)
		wantMost(t, "all", all, 4)
		answers(t, nc, 4)

		release := srv.HoldRequest(zktest.Match{Op: zktest.OpGetData})
		nc.Write(get(5))
		do(t, srv.SetData("/", nil))
		answers(t, nc, 1) // an event, which answers nothing
		for _, b := range slices.Concat(get(6), get(7), get(8)) {
			nc.Write([]byte{b}) // frames in pieces
		}
		wantMost(t, "reads in pieces", reads, 4)
		release()
		for range 3 {
			answers(t, nc, 1)
			nc.Write(get(9))
		}
		wantMost(t, "one more with each answer", reads, 4)
	})
}

func TestMostUnderWayForgetsWhatAClosedConnectionHad(t *testing.T) {
	bubble(t, func(t *testing.T, srv *zktest.Server) {
		link := srv.NewLink()
		most := link.MostUnderWay(zktest.OpGetData)
		for range 3 {
			release := srv.HoldRequest(zktest.Match{Op: zktest.OpGetData})
			nc := metered(t, link)
			nc.Write(slices.Concat(numbered(1, zktest.OpGetData, "/", 0), numbered(2, zktest.OpGetData, "/", 0)))
			synctest.Wait()
			nc.Close()
			release()
		}
		wantMost(t, "two on each connection", most, 2)
	})
}

func TestMostUnderWayAddsConnectionsAndAnswersThatWereLost(t *testing.T) {
	bubble(t, func(t *testing.T, srv *zktest.Server) {
		link := srv.NewLink()
		most := link.MostUnderWay()
		srv.SwallowReply(zktest.Match{Op: zktest.OpGetData, Nth: 2})
		first, second := metered(t, link), metered(t, link)
		for xid, nc := range []net.Conn{first, second, first} {
			nc.Write(numbered(uint32(xid+1), zktest.OpGetData, "/", 0))
			synctest.Wait()
			if nc == first {
				answers(t, nc, 1)
			}
		}
		wantMost(t, "one of each connection", most, 2)
	})
}
