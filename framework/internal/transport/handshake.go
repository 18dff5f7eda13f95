package transport

import (
	"crypto/tls"
	"encoding/binary"
	"fmt"
	"net"
	"time"
)

// maxHandshake bounds the answer to a handshake, which has 37 bytes at the most. A server of another protocol that is
// asked by mistake answers with a text, whose first four letters would be a length of a gigabyte.
const maxHandshake = 256

// foreign explains an answer to the handshake that is no frame, from its first four bytes; nil if it may be one.
func foreign(start []byte) error {
	switch {
	case string(start) == "HTTP":
		return fmt.Errorf("%w: the server answers in HTTP, so this is not ZooKeeper's client port, which is 2181 by default", errGarbage)
	case start[0] == tlsAlert && start[1] == tlsMajor:
		return fmt.Errorf("%w: the server answers in TLS, use WithTLS", errGarbage)
	default:
		return nil
	}
}

// How a TLS server begins to say that it was not greeted in TLS.
const (
	tlsAlert = 0x15
	tlsMajor = 0x03
)

func isTLS(conn net.Conn) bool {
	_, ok := conn.(*tls.Conn)
	return ok
}

// Offsets in a ConnectRequest with its length in front.
const (
	offsetZxid    = 8
	offsetTimeout = 16
	offsetSession = 20
	minHandshake  = 28
)

// offsetGrant is where the session timeout stands in a ConnectResponse with its length in front.
const offsetGrant = 8

// writeHandshake sends go-zookeeper's ConnectRequest with the highest zxid of this client, and the session timeout that
// ask returns. A second request for a new session is refused: see errSecondLife.
func (l *link) writeHandshake(frame []byte) (int, error) {
	if len(frame) < minHandshake {
		return 0, fmt.Errorf("transport: go-zookeeper wrote a handshake of %d bytes", len(frame))
	}
	l.session = int64(binary.BigEndian.Uint64(frame[offsetSession:]))
	l.newSession = l.session == 0
	l.t.mu.Lock()
	known := l.t.known
	if l.newSession {
		l.t.granted = 0 // to one that was abandoned
	}
	l.t.mu.Unlock()
	if l.newSession && known {
		l.fail(errSecondLife)
		return 0, errSecondLife
	}
	patched := append([]byte(nil), frame...)
	binary.BigEndian.PutUint64(patched[offsetZxid:], uint64(l.t.seen.newest()))
	binary.BigEndian.PutUint32(patched[offsetTimeout:], uint32(l.t.ask().Milliseconds()))
	l.sentAt = l.t.cfg.Clock.Now()
	if _, err := l.raw.Write(patched); err != nil {
		l.fail(err)
	}
	return len(frame), nil // as for all writes, the reader reports the failure
}

// shake takes the handshake's answer and, if a server took the session, opens the link for requests.
func (l *link) shake(frame []byte) ([]byte, error) {
	d := decoder{rest: frame[4:]}
	_ = d.int32() // protocol version
	timeout := time.Duration(d.int32()) * time.Millisecond
	session := d.int64()
	_ = d.bytes() // password
	switch {
	case d.err != nil:
		return nil, d.err
	case session == 0 && l.newSession:
		return nil, errNoSession
	case session == 0:
		l.gone = true // nothing was attached, and there is no failure to report
		l.t.expire()
		return frame, nil
	case timeout <= 0:
		return nil, fmt.Errorf("%w: session timeout of %v", errGarbage, timeout)
	case !l.newSession && session != l.session:
		l.endUnused()
		l.gone = true // as above
		l.t.expire()
		return nil, fmt.Errorf("%w: session %#x was answered with %#x", errSecondLife, l.session, session)
	}
	timeout = l.t.grant(timeout)
	l.t.cfg.Events.Granted(timeout, l.sentAt)
	if !l.silence.Stop() {
		return nil, errSilent // the connection is being closed at this moment: it must not count as an attachment
	}
	l.until = time.Time{}
	l.shaken = true
	a := Attachment{SessionID: session, Timeout: timeout, Sent: l.sentAt, Received: l.receivedAt, Server: l.server}
	if err := l.authenticate(timeout); err != nil {
		return nil, err
	}
	binary.BigEndian.PutUint32(frame[offsetGrant:], uint32(timeout.Milliseconds())) // go-zookeeper pings in time for it
	l.open(a)
	return frame, nil
}

// endUnused closes a session that the server has just opened and that stays unused: ClickHouse Keeper opens one instead
// of taking this client's, whose old session then ends by its timeout; others open one for a client that could not
// prove who it is. Nothing else is under way, so the few bytes are taken without delay; the limit is for connections
// that are not the kernel's.
func (l *link) endUnused() {
	_ = l.raw.SetWriteDeadline(time.Now().Add(100 * time.Millisecond))
	_, _ = l.raw.Write(closeSession(nil).frame(nil, xidFirst))
}

// open lets requests through, authentication first: no request can be sent before openedAt is set, and it is set in one
// step with the queueing of the authentication.
func (l *link) open(a Attachment) {
	l.attached, l.session = true, a.SessionID
	l.known = l.t.seen.taken()
	l.patience = a.Timeout * 2 / 3
	l.mu.Lock()
	l.openedAt = time.Now()
	for _, auth := range l.t.cfg.Authorizations() {
		c := setAuth(auth)
		l.out = c.frame(l.out, xidAuth)
		l.waiting.push(pending{xid: xidAuth, op: opSetAuth, call: c})
	}
	l.mu.Unlock()
	close(l.opened)
	l.t.wg.Go(l.writeLoop)
	l.signal()
	l.t.cfg.Route.attached(l.address)
	l.t.attached(a)
}
