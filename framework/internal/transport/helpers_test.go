package transport_test

import (
	"context"
	"encoding/binary"
	"fmt"
	"io"
	"log/slog"
	"net"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/gocurator/curator/framework/internal/transport"
	"github.com/gocurator/curator/framework/zktest"
)

// timeout is the session timeout of these tests: its thirds and quarters are whole.
const timeout = 12 * time.Second

// recorder records what a transport reports, in order.
type recorder struct {
	mu       sync.Mutex
	events   []string // "attached", "detached", "answered", "watch", "expired", "failed"
	attached []transport.Attachment
	watched  []transport.WatchEvent
	answered []answer
	failures []error
}

type answer struct {
	sent, received time.Time
	reach          transport.Reach
}

func (e *recorder) add(event string, more func()) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if event != "answered" {
		e.events = append(e.events, event)
	}
	if more != nil {
		more()
	}
}

func (e *recorder) all() []string {
	e.mu.Lock()
	defer e.mu.Unlock()
	return append([]string(nil), e.events...)
}

func (e *recorder) count(event string) (n int) {
	for _, got := range e.all() {
		if got == event {
			n++
		}
	}
	return n
}

func (e *recorder) answers() []answer {
	e.mu.Lock()
	defer e.mu.Unlock()
	return append([]answer(nil), e.answered...)
}

func (e *recorder) failure(t *testing.T) error {
	t.Helper()
	e.mu.Lock()
	defer e.mu.Unlock()
	if len(e.failures) == 0 {
		t.Fatal("got no failure, want one")
	}
	return e.failures[len(e.failures)-1]
}

func (e *recorder) callbacks() transport.Events {
	return transport.Events{
		Granted:  func(time.Duration, time.Time) {},
		Attached: func(a transport.Attachment) { e.add("attached", func() { e.attached = append(e.attached, a) }) },
		Detached: func(error) { e.add("detached", nil) },
		Answered: func(sent, received time.Time, reach transport.Reach) {
			e.add("answered", func() { e.answered = append(e.answered, answer{sent, received, reach}) })
		},
		Watch:     func(w transport.WatchEvent) { e.add("watch", func() { e.watched = append(e.watched, w) }) },
		Restarted: func(_ string, seen, found int64) { e.add(fmt.Sprintf("restarted %d %d", seen, found), nil) },
		GaveUp:    func() { e.add("gave up", nil) },
		Expired:   func() { e.add("expired", nil) },
		Failed:    func(_ string, err error) { e.add("failed", func() { e.failures = append(e.failures, err) }) },
	}
}

type dialFunc = func(ctx context.Context, network, address string) (net.Conn, error)

// start begins a transport that the test closes, unless it has done so itself.
func start(t *testing.T, dial dialFunc, change ...func(*transport.Config)) (*transport.Transport, *recorder) {
	t.Helper()
	heard := &recorder{}
	cfg := transport.Config{
		Route: transport.NewRoute(func(context.Context) []string { return []string{"zk:2181"} }, nil), Dial: dial, SessionTimeout: timeout, ConnectionTimeout: 8 * time.Second,
		MaxFrame: 1 << 20, Events: heard.callbacks(), Logger: slog.New(slog.DiscardHandler),
	}
	for _, f := range change {
		f(&cfg)
	}
	tr := transport.New(cfg)
	if err := tr.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { tr.Close(time.Second) })
	return tr, heard
}

// eventually lets virtual time pass, in small steps, until ok.
func eventually(t *testing.T, what string, ok func() bool) {
	t.Helper()
	for range 6000 {
		synctest.Wait()
		if ok() {
			return
		}
		time.Sleep(10 * time.Millisecond)
	}
	t.Fatalf("not within a minute: %s", what)
}

func attach(t *testing.T, heard *recorder) {
	t.Helper()
	eventually(t, "attached", func() bool { return heard.count("attached") > 0 })
}

// scripted dials a server that is one function. It is given the connection after the dial, and closes it when it
// returns.
func scripted(t *testing.T, serve func(conn net.Conn)) dialFunc {
	var wg sync.WaitGroup
	t.Cleanup(wg.Wait)
	return func(context.Context, string, string) (net.Conn, error) {
		client, server := net.Pipe()
		wg.Go(func() {
			defer server.Close()
			serve(server)
		})
		return client, nil
	}
}

// answering dials a server that answers each request with a frame.
func answering(t *testing.T, answer func(xid, op int32) (frame []byte)) dialFunc {
	return scripted(t, func(conn net.Conn) {
		if !welcome(conn, 7, 12000) {
			return
		}
		for frame, ok := request(conn); ok; frame, ok = request(conn) {
			if _, err := conn.Write(answer(xidAndOp(frame))); err != nil {
				return
			}
		}
	})
}

// request reads one frame from a client.
func request(conn net.Conn) (frame []byte, ok bool) {
	length := make([]byte, 4)
	if _, err := io.ReadFull(conn, length); err != nil {
		return nil, false
	}
	frame = make([]byte, binary.BigEndian.Uint32(length))
	_, err := io.ReadFull(conn, frame)
	return frame, err == nil
}

// welcome answers a handshake.
func welcome(conn net.Conn, session int64, timeoutMs int32) bool {
	if _, ok := request(conn); !ok {
		return false
	}
	_, err := conn.Write(welcomeFrame(session, timeoutMs))
	return err == nil
}

func welcomeFrame(session int64, timeoutMs int32) []byte {
	b := binary.BigEndian.AppendUint32(nil, 36)
	b = binary.BigEndian.AppendUint32(b, 0)
	b = binary.BigEndian.AppendUint32(b, uint32(timeoutMs))
	b = binary.BigEndian.AppendUint64(b, uint64(session))
	b = binary.BigEndian.AppendUint32(b, 16)
	return append(b, make([]byte, 16)...)
}

// reply is an answer's frame.
func reply(xid int32, zxid int64, code int32, body []byte) []byte {
	b := binary.BigEndian.AppendUint32(nil, uint32(16+len(body)))
	b = binary.BigEndian.AppendUint32(b, uint32(xid))
	b = binary.BigEndian.AppendUint64(b, uint64(zxid))
	b = binary.BigEndian.AppendUint32(b, uint32(code))
	return append(b, body...)
}

// xidAndOp is what a request begins with.
func xidAndOp(frame []byte) (xid, op int32) {
	return int32(binary.BigEndian.Uint32(frame)), int32(binary.BigEndian.Uint32(frame[4:]))
}

// server is one that may be left with half a connection: a mute link reports its end to neither side.
func server(t *testing.T) *zktest.Server {
	srv := zktest.NewServer()
	t.Cleanup(func() { srv.Close() })
	return srv
}
