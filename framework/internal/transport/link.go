package transport

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"net"
	"sync/atomic"
	"time"

	"github.com/gocurator/curator/framework/ranked"
)

// A link is one connection to one server, as go-zookeeper sees it: a net.Conn.
//
// Write takes go-zookeeper's frames and queues them beside this package's calls; a goroutine of its own puts them on
// the wire, as many at once as have come together. A call that is alone is written by its sender (write_alone.go). Read
// is called by one go-zookeeper goroutine at a time: it keeps what is ours and passes on what is go-zookeeper's, so
// every callback of the package runs there, in the order of arrival.
type link struct {
	t          *Transport
	raw        net.Conn
	socket     *socket // raw, for writes that do not block; nil if there are none
	server     string
	address    Address
	in         *bufio.Reader
	frame      []byte    // the last frame read; reused
	body       decoder   // decodes frame; reused
	receivedAt time.Time // when the newest bytes that were read arrived
	unread     []byte    // the part of frame that go-zookeeper has still to read
	until      time.Time // when silence ends the connection

	known      progress      // before it was attached
	zxid       int64         // the newest answer's
	sentAt     time.Time     // when the handshake was sent
	newSession bool          // the handshake asks for a new session
	ageAsked   bool          // the server was asked for its age just before
	session    int64         // the one that the handshake asks for, then the one in its answer
	attached   bool          // reader goroutine only
	gone       bool          // Detached was called; reader goroutine only
	shaken     bool          // the handshake was answered; reader goroutine only
	answers    int           // answered requests; reader goroutine only
	served     bool          // a request other than an authentication was answered; reader goroutine only
	patience   time.Duration // how long the server may be silent before the connection is given up

	silence *time.Timer // closes the connection at until
	stuck   *time.Timer // closes it when a write takes too long
	overdue *time.Timer // looks at the oldest request
	reading atomic.Bool // a frame has begun to arrive and is not complete

	wake   chan struct{} // there is something to write
	opened chan struct{} // closed when the link takes requests
	dead   chan struct{} // closed by the first failure

	mu       ranked.Mutex[ranked.Branch, link]
	reason   error           // why it failed
	out      []byte          // frames to be written
	writing  bool            // a goroutine is writing frames that it took from out
	rest     []byte          // the part of these that it left to writeLoop
	spare    []byte          // empty; out's next memory
	waiting  pendingRequests // for answers: what was written, and what these frames are
	openedAt time.Time       // when it was attached; zero before
	nextXid  int32
}

func newLink(t *Transport, raw net.Conn, server string) *link {
	l := &link{
		t: t, raw: raw, server: server,
		wake: make(chan struct{}, 1), opened: make(chan struct{}), dead: make(chan struct{}), nextXid: xidFirst,
	}
	l.socket = newSocket(raw)
	l.in = bufio.NewReaderSize(arrivals{l}, 32<<10)
	l.silence, l.stuck = l.alarm(func() { l.fail(errSilent) }), l.alarm(func() { l.fail(errStuck) })
	l.overdue = l.alarm(l.watchOverdue)
	return l
}

// alarm returns a timer, stopped, that calls due, which may close the connection. Deadlines would do that as well, if
// there were not connections that know none, such as a tunnel through SSH, or that claim to.
func (l *link) alarm(due func()) *time.Timer {
	timer := time.AfterFunc(time.Hour, due)
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
		l.overdue.Stop()
		go hangUp(l.raw)
	}
}

// hangUp closes a socket. That may take long, and no caller waits for it: TLS says goodbye for up to five seconds to a
// peer that does not listen, and the socket may be a user's. Reads and writes end before it, by a deadline, if the
// socket knows any.
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
	if l.openedAt.IsZero() {
		return 0
	}
	return time.Since(l.openedAt)
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

// detach is the reader's last act: it completes what was waiting, in order, and reports that the connection is gone.
func (l *link) detach(err error) error {
	l.fail(err)
	if l.gone {
		return err
	}
	l.gone = true
	if l.attached && errors.Is(err, errGarbage) && l.t.seen.doubt(l.known) {
		l.t.cfg.Events.GaveUp()
	}
	l.mu.Lock()
	reason := l.reason
	overdue, found := l.waiting.overtaken()
	waiting := l.waiting.takeAll()
	l.out = nil
	l.mu.Unlock()
	switch {
	case l.attached:
	case l.shaken:
		l.t.failedAt(l.address, unauthenticated{err})
		return err
	default:
		if !errors.Is(err, errGarbage) && l.t.seen.refused() {
			l.t.cfg.Events.GaveUp()
		}
		l.t.hungUp(l, reason)
		l.t.failedAt(l.address, unshaken{handshakeError(reason, isTLS(l.raw)), l.sentLongAgo()})
		return err
	}
	if found && errors.Is(reason, errOverdue) {
		l.t.slow.overdue(overdue.op)
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

func (l *link) sentLongAgo() bool {
	return !l.sentAt.IsZero() && l.t.cfg.Clock.Now().Sub(l.sentAt) >= promptly
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
	var alert *net.OpError
	// with TLS 1.3 a client hears of it only now
	if encrypted && errors.As(reason, &alert) && alert.Op == "remote error" {
		return fmt.Errorf("handshake: the server does not take the client's certificate, or wants one: %w", reason)
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
