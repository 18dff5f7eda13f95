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
)

// A link is one connection to one server, as go-zookeeper sees it: a net.Conn.
//
// Write takes go-zookeeper's frames and queues them beside this package's calls; a goroutine of its own puts them on
// the wire, as many at once as have come together. Read is called by one go-zookeeper goroutine at a time: it keeps
// what is ours and passes on what is go-zookeeper's, so every callback of the package runs there, in the order of
// arrival.
type link struct {
	t       *Transport
	raw     net.Conn
	server  string
	address Address
	in      *bufio.Reader
	frame   []byte    // the last frame read; reused
	body    decoder   // of it; reused
	came    time.Time // when the last of what has been read was here
	pass    []byte    // the part of it that go-zookeeper has still to read
	until   time.Time // when silence ends the connection

	certain  int64         // the newest zxid that was known when the connection began
	zxid     int64         // of the newest answer
	names    nameSet       // of the reader
	sentAt   time.Time     // of the handshake
	fresh    bool          // the handshake asks for a new session
	asked    bool          // the server was asked for its age just before
	session  int64         // that the handshake asks for, and then the one that it was answered with
	attached bool          // of the reader
	gone     bool          // of the reader: Detached has been told
	answers  int           // of the reader: to requests
	patience time.Duration // without a frame from the server for so long the connection is given up

	silence *time.Timer // closes the connection at until
	stuck   *time.Timer // closes it when a write takes too long

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
		t: t, raw: raw, server: server, certain: t.seen.certain(),
		wake: make(chan struct{}, 1), dead: make(chan struct{}), nextXid: xidFirst,
	}
	l.in = bufio.NewReaderSize(arrivals{l}, 32<<10)
	l.silence, l.stuck = l.alarm(errSilent), l.alarm(errStuck)
	return l
}

// alarm returns a timer, stopped, that closes the connection for a reason. Deadlines would do that as well, if there were not
// connections that know none, such as a tunnel through SSH, or that claim to.
func (l *link) alarm(reason error) *time.Timer {
	timer := time.AfterFunc(time.Hour, func() { l.fail(reason) })
	timer.Stop()
	return timer
}

var (
	errSilent = errors.New("timeout: the server sends nothing")
	errStuck  = errors.New("timeout: the server takes nothing")
)

// fail closes the connection. Whatever waits on it gets an error when the reader notices.
func (l *link) fail(reason error) {
	l.mu.Lock()
	first := l.reason == nil
	if first {
		l.reason = reason
	}
	l.mu.Unlock()
	if first {
		close(l.dead)
		l.silence.Stop()
		l.stuck.Stop()
		go hangUp(l.raw)
	}
}

// hangUp closes a socket. That may take long, and nobody waits for it: TLS says goodbye for up to five seconds to a peer that
// does not listen, and the socket may be a user's. Reads and writes end before it, by a deadline, if the socket knows any.
func hangUp(raw net.Conn) {
	_ = raw.SetDeadline(longAgo)
	_ = raw.Close()
}

// longAgo is a deadline that ends what it is set for.
var longAgo = time.Unix(1, 0)

// lasted is how long the link has been attached.
func (l *link) lasted() time.Duration {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.since.IsZero() {
		return 0
	}
	return time.Since(l.since)
}

func (l *link) quiet() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, p := range l.waiting.all[l.waiting.first:] {
		if p.op != opPing {
			return false
		}
	}
	return true
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

// next reads a frame. The time at which silence ends the connection is moved only when a good part of it is used up: moving it
// costs more than reading a small frame.
func (l *link) next() ([]byte, error) {
	limit := maxHandshake
	if l.attached {
		limit = l.t.cfg.MaxFrame
		// Also if a part of the frame is here already: on a busy connection that may be so for every frame.
		if now := time.Now(); l.until.Sub(now) < l.patience*7/8 {
			l.endAt(now, l.patience)
		}
		if err := l.readPastLong(limit); err != nil {
			return nil, err
		}
	}
	frame, err := readFrame(l.in, l.frame, limit)
	l.frame = frame[:0]
	if cap(l.frame) > maxKept {
		l.frame = nil // a long listing must not stay in memory for as long as the session
	}
	return frame, err
}

// endAt lets silence end the connection so long from now.
func (l *link) endAt(now time.Time, patience time.Duration) {
	l.until = now.Add(patience)
	l.silence.Reset(patience)
}

// arrivals is the link's connection as its buffer reads it: all the frames that have come, at once.
type arrivals struct{ *link }

// Read looks at the clock once for all of them, which is cheaper than once for each. A frame that is counted from its
// arrival must not seem to have come earlier than it did, so it looks when they are here.
func (a arrivals) Read(p []byte) (int, error) {
	n, err := a.raw.Read(p)
	a.came = a.t.cfg.Clock.Now()
	if n > 0 {
		a.t.arrivals.Add(1)
	}
	return n, err
}

const maxKept = 256 << 10

// dispatch handles one frame and returns it if it is go-zookeeper's.
func (l *link) dispatch(frame []byte) ([]byte, error) {
	l.body = decoder{rest: frame[4:]}
	d := &l.body
	h := header{xid: d.int32(), zxid: d.int64(), code: d.int32()}
	if d.err != nil {
		return nil, d.err
	}
	if h.xid == xidEvent {
		event, err := d.event()
		if err == nil {
			l.t.cfg.Events.Watch(event)
		}
		return nil, err
	}
	p, ok := l.answered(h.xid)
	if !ok {
		return nil, garbage("an answer to request %d, which is not the next to be answered", h.xid)
	}
	if p.call == nil {
		return l.passOn(frame, p, h)
	}
	return nil, l.complete(p, h, d)
}

// passOn returns the answer to a request of go-zookeeper: its header alone, since these requests are pings, and a
// longer answer than its buffer ends its reader.
func (l *link) passOn(frame []byte, p pending, h header) ([]byte, error) {
	switch err := refusal(p.op, h.code); {
	case err != nil:
		l.t.failed(l.server, err)
		return nil, err
	case h.code != 0:
		return nil, garbage("a ping is answered with error code %d", h.code)
	}
	l.t.cfg.Events.Answered(p.sent, l.came, reach(p.op, h.code))
	binary.BigEndian.PutUint32(frame, headerLen)
	return frame[:4+headerLen], nil
}

// complete tells a call its answer. An error that it returns ends the connection; the call is then told that, like
// those that wait behind it.
func (l *link) complete(p pending, h header, d *decoder) error {
	a, err := l.examine(p, h, d)
	if err != nil {
		p.call.fail(broken(err))
		return err
	}
	l.answers++
	l.t.cfg.Support.answered(p.op, h.code, l.server)
	if p.op != opSetAuth { // which servers take aside: they count it as no sign of life of the session
		l.t.cfg.Events.Answered(p.sent, l.came, reach(p.op, h.code))
	}
	switch h.code {
	case 0:
		p.call.complete(a)
	case codeNoAuth:
		p.call.fail(noAuth(p.op, p.call.body))
	default:
		p.call.fail(toError(h.code))
	}
	return nil
}

// examine takes an answer apart. Nothing of it has been told before it returns.
func (l *link) examine(p pending, h header, d *decoder) (a answer, err error) {
	switch err := refusal(p.op, h.code); {
	case err != nil:
		l.t.failed(l.server, err)
		return a, err
	case h.code > 0:
		return a, garbage("error code %d", h.code)
	case h.code == codeSessionExpired, h.code == codeSessionMoved:
		// It proves nothing about the session, and the next handshake tells whether there still is one.
		return a, fmt.Errorf("the server disowns the session: %w", toError(h.code))
	}
	if !overtakes(p.xid) {
		if l.zxid, err = l.t.seen.saw(h.zxid, l.zxid); err != nil {
			return a, err
		}
	}
	if h.code != 0 {
		return a, nil // a body counts for nothing then
	}
	if a, err = p.call.read(d); err != nil {
		return a, err
	}
	err = p.call.check(&a, h, l.session, &l.names)
	return a, err
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
	if errors.Is(err, errGarbage) {
		l.t.seen.doubt(l.certain)
	}
	l.mu.Lock()
	reason := l.reason
	waiting := l.waiting.takeAll()
	l.out = nil
	l.mu.Unlock()
	if !l.attached {
		l.t.seen.refused()
		l.t.hungUp(l, reason)
		l.t.failedAt(l.address, handshakeError(reason, isTLS(l.raw)))
		return err
	}
	hangUp := l.evidence(reason, waiting)
	for _, p := range waiting {
		switch {
		case p.call == nil:
		case hangUp != nil && p.op != opSetAuth:
			hangUp.Path = p.call.path()
			p.call.fail(hangUp)
			hangUp = nil
		default:
			p.call.fail(ErrBroken)
		}
	}
	l.t.cfg.Events.Detached(reason)
	return err
}

// handshakeError explains why a connection ended before the handshake was answered.
func handshakeError(reason error, encrypted bool) error {
	if errors.Is(reason, io.EOF) {
		why := ""
		if !encrypted {
			why = "it takes TLS alone on this port, "
		}
		return fmt.Errorf("the server closed the connection without answering the handshake (it is not serving, or read-only for lack of a "+
			"quorum, %shas reached its connection limit, or its data is older than what this client has seen): %w", why, reason)
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
