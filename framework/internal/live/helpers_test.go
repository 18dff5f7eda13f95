package live_test

import (
	"encoding/binary"
	"io"
	"net"
	"slices"
	"sync"
	"testing"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/framework/internal/clienttest"
	"github.com/gocurator/curator/framework/internal/live"
	"github.com/gocurator/curator/framework/zktest"
)

// env is what a test has, with methods of its own.
type env struct{ *clienttest.Env }

// bubble runs f in a bubble, in which time is virtual and no goroutine may be left, with a connected client.
func bubble(t *testing.T, f func(t *testing.T, w *env), opts ...framework.Option) {
	t.Helper()
	zktest.Bubble(t, func(t *testing.T) {
		w := newEnv(t, opts...)
		w.Connected()
		f(t, w)
	})
}

func newEnv(t *testing.T, opts ...framework.Option) *env {
	t.Helper()
	return &env{clienttest.New(t, opts...)}
}

// live is the session, with what the client alone does in it.
func (w *env) live() *live.Session {
	w.Helper()
	s, ok := w.Session().(*live.Session)
	if !ok {
		w.Fatalf("got a session of type %T, want one of this package", w.Session())
	}
	return s
}

var must, wantErr = clienttest.Must, clienttest.WantErr

// framed is a client's connection that shows its frames, lengths included, to a test. The handshakes are not shown.
type framed struct {
	net.Conn
	request func(op zktest.Op, frame []byte) (pass bool) // gets the client's frames: whether one goes on to the server
	answer  func(frame []byte) []byte                    // gets the server's frames: what goes on to the client

	mu       sync.Mutex
	shaken   bool // a handshake has been sent
	greeted  bool // the handshake has been answered
	incoming []byte
}

func (f *framed) Write(p []byte) (int, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if !f.shaken {
		f.shaken = true
		return f.Conn.Write(p)
	}
	for rest := p; len(rest) > 0; {
		frame := rest[:4+binary.BigEndian.Uint32(rest)]
		rest = rest[len(frame):]
		if !f.request(zktest.Op(binary.BigEndian.Uint32(frame[8:])), frame) {
			continue
		}
		if _, err := f.Conn.Write(frame); err != nil {
			return 0, err
		}
	}
	return len(p), nil
}

func (f *framed) Read(p []byte) (int, error) {
	if len(f.incoming) == 0 {
		size := make([]byte, 4)
		if _, err := io.ReadFull(f.Conn, size); err != nil {
			return 0, err
		}
		body := make([]byte, binary.BigEndian.Uint32(size))
		if _, err := io.ReadFull(f.Conn, body); err != nil {
			return 0, err
		}
		f.mu.Lock()
		f.incoming = slices.Concat(size, body)
		if f.greeted {
			f.incoming = f.answer(f.incoming)
		}
		f.greeted = true
		f.mu.Unlock()
	}
	n := copy(p, f.incoming)
	f.incoming = f.incoming[n:]
	return n, nil
}
