package transport

import (
	"bufio"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net"
	"sync"
	"time"

	"github.com/go-zookeeper/zk"

	"github.com/gocurator/curator/framework/internal/clock"
)

// A link is one connection to one server, as go-zookeeper sees it: a net.Conn.
//
// Write takes go-zookeeper's frames and queues them beside this package's calls; a goroutine of its own puts them on the
// wire, as many at once as have come together. Read is called by one go-zookeeper goroutine at a time: it keeps what is ours
// and passes on what is go-zookeeper's, so every callback of the package runs there, in the order of arrival.
type link struct {
	t      *Transport
	raw    net.Conn
	server string
	in     *bufio.Reader
	frame  []byte    // the last frame read; reused
	body   decoder   // of it; reused
	came   time.Time // when the last of what has been read was here
	pass   []byte    // the part of it that go-zookeeper has still to read
	until  time.Time // read deadline in force

	sentAt   time.Time     // of the handshake
	fresh    bool          // the handshake asks for a new session
	attached bool          // of the reader
	gone     bool          // of the reader: Detached has been told
	patience time.Duration // without a frame from the server for so long the connection is given up

	wake chan struct{} // there is something to write
	dead chan struct{} // closed by the first failure

	mu      sync.Mutex
	reason  error     // why it failed
	out     []byte    // frames to be written
	waiting line      // for answers: what was written, and what these frames are
	since   time.Time // attached since then; zero before
	nextXid int32
}

func newLink(t *Transport, raw net.Conn, server string) *link {
	l := &link{
		t: t, raw: raw, server: server,
		wake: make(chan struct{}, 1), dead: make(chan struct{}), nextXid: xidFirst,
	}
	l.in = bufio.NewReaderSize(arrivals{l}, 32<<10)
	return l
}

// fail closes the connection. Whatever waits on it is told when the reader notices.
func (l *link) fail(reason error) {
	l.mu.Lock()
	first := l.reason == nil
	if first {
		l.reason = reason
	}
	l.mu.Unlock()
	if first {
		close(l.dead)
		_ = l.raw.Close()
	}
}

// lasted is how long the link has been attached.
func (l *link) lasted() time.Duration {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.since.IsZero() {
		return 0
	}
	return time.Since(l.since)
}

func (l *link) answered(xid int32) (pending, bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.waiting.take(xid)
}

// Read gives go-zookeeper the handshake's answer, and then the answers to its own requests.
func (l *link) Read(p []byte) (int, error) {
	for len(l.pass) == 0 {
		frame, err := l.next()
		if err == nil && !l.attached {
			l.pass, err = l.shake(frame)
		} else if err == nil {
			l.pass, err = l.dispatch(frame)
		}
		if err != nil {
			return 0, l.detach(err)
		}
	}
	n := copy(p, l.pass)
	l.pass = l.pass[n:]
	return n, nil
}

// next reads a frame. Deadlines are moved only when a good part of the old one is used up: moving one costs more than
// reading a small frame.
func (l *link) next() ([]byte, error) {
	limit := maxHandshake
	if l.attached {
		limit = l.t.cfg.MaxFrame
		// Also if a part of the frame is here already: on a busy connection that may be so for every frame.
		if now := time.Now(); l.until.Sub(now) < l.patience*7/8 {
			l.until = now.Add(l.patience)
			_ = l.raw.SetReadDeadline(l.until)
		}
	}
	frame, err := readFrame(l.in, l.frame, limit)
	l.frame = frame[:0]
	if cap(l.frame) > maxKept {
		l.frame = nil // a long listing must not stay in memory for as long as the session
	}
	return frame, err
}

// arrivals is the link's connection as its buffer reads it: all the frames that have come, at once.
type arrivals struct{ *link }

// Read looks at the clock once for all of them, which is cheaper than once for each. A frame that is counted from its arrival
// must not seem to have come earlier than it did, so it looks when they are here.
func (a arrivals) Read(p []byte) (int, error) {
	n, err := a.raw.Read(p)
	a.came = clock.Now()
	return n, err
}

const maxKept = 256 << 10

// dispatch handles one frame and returns it if it is go-zookeeper's.
func (l *link) dispatch(frame []byte) ([]byte, error) {
	l.body = decoder{rest: frame[4:]}
	d := &l.body
	xid, zxid, code := d.int32(), d.int64(), d.int32()
	if d.err != nil {
		return nil, d.err
	}
	l.t.sawZxid(zxid)
	if xid == xidEvent {
		event := WatchEvent{Type: zk.EventType(d.int32())}
		_ = d.int32() // the connection's state, always "connected"
		event.Path = d.string()
		if d.err == nil {
			l.t.cfg.Events.Watch(event)
		}
		return nil, d.err
	}
	p, ok := l.answered(xid)
	if !ok {
		return nil, fmt.Errorf("%w: answer to request %d, which is not waiting for one", errGarbage, xid)
	}
	if err := refusal(p.op, code); err != nil {
		l.t.failed(l.server, err)
		if p.call != nil {
			p.call.complete(nil, ErrBroken) // like those that wait behind it
		}
		return nil, err
	}
	l.t.cfg.Events.Answered(p.sent, l.came, crossing(p.op, code) && (p.op != opSync || !l.t.cfg.Quorum))
	if p.call == nil {
		// The header alone: go-zookeeper's own requests are pings, and a longer answer than its buffer ends its reader.
		binary.BigEndian.PutUint32(frame, headerLen)
		return frame[:4+headerLen], nil
	}
	p.call.complete(d, toError(code))
	return nil, d.err
}

// refusal says whether an answer means that this client is not welcome at all.
func refusal(op, code int32) error {
	switch {
	case op == opSetAuth && code != 0, code == codeAuthFailed:
		return ErrAuth
	case code == codeSaslRequired:
		return fmt.Errorf("%w: it takes SASL clients only", ErrAuth)
	default:
		return nil
	}
}

// detach is the reader's last act: it completes what was waiting, in order, and tells that the connection is gone.
func (l *link) detach(err error) error {
	l.fail(err)
	if l.gone {
		return err
	}
	l.gone = true
	l.mu.Lock()
	reason := l.reason
	waiting := l.waiting.takeAll()
	l.out = nil
	l.mu.Unlock()
	if !l.attached {
		l.t.failed(l.server, handshakeError(reason))
		return err
	}
	for _, p := range waiting {
		if p.call != nil {
			p.call.complete(nil, ErrBroken)
		}
	}
	l.t.cfg.Events.Detached(reason)
	return err
}

func handshakeError(reason error) error {
	if errors.Is(reason, io.EOF) {
		return fmt.Errorf("the server closed the connection without answering the handshake (it is not serving, has reached its "+
			"connection limit, or its data is older than what this client has seen): %w", reason)
	}
	return fmt.Errorf("handshake: %w", reason)
}

// Close is called by go-zookeeper when it gives the connection up.
func (l *link) Close() error {
	l.fail(io.ErrClosedPipe)
	return nil
}

func (l *link) LocalAddr() net.Addr  { return l.raw.LocalAddr() }
func (l *link) RemoteAddr() net.Addr { return l.raw.RemoteAddr() }

// Deadlines are the link's own.

func (l *link) SetDeadline(time.Time) error      { return nil }
func (l *link) SetReadDeadline(time.Time) error  { return nil }
func (l *link) SetWriteDeadline(time.Time) error { return nil }
