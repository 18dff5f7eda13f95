package zktest

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"errors"
	"io"
	"log/slog"
	"net"
	"testing"
	"testing/synctest"
	"time"
)

// FuzzFrames feeds bytes to the frame reader in pieces: it returns the frames
// that are there, never more than the limit, and then an error.
func FuzzFrames(f *testing.F) {
	f.Add([]byte("\x00\x00\x00\x02ab\x00\x00\x00\x00"))
	f.Add([]byte("\x00\x00\xff\xff"))
	f.Fuzz(func(t *testing.T, in []byte) {
		frames := frameReader{r: bufio.NewReaderSize(bytes.NewReader(in), 16), max: 1 << 16}
		rest := in
		for {
			frame, err := frames.next()
			if err != nil {
				break
			}
			n := int(binary.BigEndian.Uint32(rest))
			if !bytes.Equal(frame, rest[4:4+n]) {
				t.Fatalf("got %x, want %x", frame, rest[4:4+n])
			}
			if cap(frames.buf) > max(4*(len(in)+grain), 4*n) {
				t.Fatalf("%d bytes of buffer for %d bytes of input", cap(frames.buf), len(in))
			}
			rest = rest[4+n:]
		}
		if len(rest) >= 4 {
			n := int(int32(binary.BigEndian.Uint32(rest)))
			if n >= 0 && n <= 1<<16 && len(rest) >= 4+n {
				t.Fatalf("got no frame of %d bytes, want it returned", n)
			}
		}
	})
}

// FuzzConnection sends raw bytes behind a good handshake. Whatever they are,
// the server survives, answers only whole frames, and keeps its tree sound.
func FuzzConnection(f *testing.F) {
	request := func(op Op, body func(e *encoder)) []byte {
		var e encoder
		e.int32(0)
		e.int32(1)
		e.int32(int32(op))
		body(&e)
		binary.BigEndian.PutUint32(e.b, uint32(len(e.b)-4))
		return e.b
	}
	f.Add(request(OpCreate2, func(e *encoder) { createBody(e, OpCreate2, "/a/b", "x", open, 3, 0) }))
	f.Add(request(OpMulti, func(e *encoder) {
		multiHeader(e, OpCreate, false, -1)
		createBody(e, OpCreate, "/a/c", "x", open, 0, 0)
		multiHeader(e, OpDelete, false, -1)
		e.string("/a/c")
		e.int32(0)
		multiHeader(e, -1, true, -1)
	}))
	f.Add(request(OpSetWatches2, func(e *encoder) {
		e.int64(1)
		for range 5 {
			e.strings([]string{"/a"})
		}
	}))
	f.Add(request(OpDelete, func(e *encoder) { e.string("/a"); e.int32(-1) }))
	f.Add(request(OpGetAllChildrenNumber, func(e *encoder) { e.string("") }))
	f.Add(request(OpCloseSession, func(*encoder) {}))
	f.Fuzz(func(t *testing.T, in []byte) {
		Bubble(t, func(t *testing.T) { fuzzConnection(t, in) })
	})
}

func fuzzConnection(t *testing.T, in []byte) {
	var log bytes.Buffer
	srv := NewServer(WithLogger(slog.New(slog.NewTextHandler(&log, nil))))
	defer srv.Close()
	if err := srv.Create("/a", nil); err != nil {
		t.Fatal(err)
	}
	nc, err := srv.Dial("", "", 0)
	if err != nil {
		t.Fatal(err)
	}
	defer nc.Close()
	var e encoder
	e.int32(44)
	e.int32(0)
	e.int64(0)
	e.int32(1000)
	e.int64(0)
	e.bytes(make([]byte, 16))
	nc.Write(e.b)
	nc.Write(in)
	nc.SetReadDeadline(time.Now().Add(time.Second / 2))
	closed := answers(t, nc)
	if srv.Connections() > 0 {
		synctest.Wait()
	}
	sound(t, srv)
	if synctest.Wait(); closed && log.Len() == 0 && srv.Counts()[OpCloseSession] == 0 {
		t.Fatal("got a connection closed without a log line, want its reason")
	}
}

// answers reads whole frames, and reports whether the server then closed the
// connection.
func answers(t *testing.T, nc net.Conn) (closed bool) {
	var head [4]byte
	for {
		if _, err := io.ReadFull(nc, head[:]); err != nil {
			if errors.Is(err, io.ErrUnexpectedEOF) {
				t.Fatalf("got half an answer (%v), want a whole one or none", err)
			}
			return errors.Is(err, io.EOF)
		}
		if _, err := io.CopyN(io.Discard, nc, int64(binary.BigEndian.Uint32(head[:]))); err != nil {
			t.Fatalf("got half an answer (%v), want a whole one or none", err)
		}
	}
}

// sound checks that the tree's indexes agree with each other.
func sound(t *testing.T, srv *Server) {
	t.Helper()
	srv.mu.Lock()
	defer srv.unlock()
	children := 0
	for path, n := range srv.tree.nodes {
		children += len(n.children)
		for name := range n.children {
			if srv.tree.nodes[join(path, name)] == nil {
				t.Fatalf("%s has a child %q that is not there", path, name)
			}
		}
		if n.kind == kindEphemeral {
			if _, ok := srv.tree.ephemerals[n.owner][path]; !ok || srv.sessions[n.owner] == nil {
				t.Fatalf("ephemeral node %s has no session", path)
			}
		}
	}
	if children != len(srv.tree.nodes)-1 {
		t.Fatalf("%d nodes, %d of them children", len(srv.tree.nodes), children)
	}
}
