package transport

import (
	"encoding/binary"
	"errors"
	"fmt"
	"time"

	"github.com/gocurator/curator/framework/internal/clock"
)

// maxHandshake bounds the answer to a handshake, which has 37 bytes at the most. A server of another protocol that is asked by
// mistake answers with a text, whose first four letters would be a length of a gigabyte.
const maxHandshake = 256

// Offsets in a ConnectRequest with its length in front.
const (
	offsetZxid    = 8
	offsetSession = 20
	minHandshake  = 28
)

// writeHandshake sends go-zookeeper's ConnectRequest with the highest zxid of this client. A second request for a new session
// is refused: see errSecondLife.
func (l *link) writeHandshake(frame []byte) (int, error) {
	if len(frame) < minHandshake {
		return 0, fmt.Errorf("transport: go-zookeeper wrote a handshake of %d bytes", len(frame))
	}
	l.fresh = binary.BigEndian.Uint64(frame[offsetSession:]) == 0
	l.t.mu.Lock()
	known := l.t.known
	l.t.mu.Unlock()
	if l.fresh && known {
		l.fail(errSecondLife)
		return 0, errSecondLife
	}
	patched := append([]byte(nil), frame...)
	binary.BigEndian.PutUint64(patched[offsetZxid:], uint64(l.t.zxid.Load()))
	l.sentAt = clock.Now()
	if _, err := l.raw.Write(patched); err != nil {
		l.fail(err)
	}
	return len(frame), nil // as for all writes: the reader tells
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
	case session == 0 && l.fresh:
		return nil, errors.New("the server opened no session")
	case session == 0:
		l.gone = true // nothing was attached, and there is no failure to tell
		l.t.expire()
		return frame, nil
	case timeout <= 0:
		return nil, fmt.Errorf("%w: session timeout of %v", errGarbage, timeout)
	}
	l.open(Attachment{SessionID: session, Timeout: timeout, Sent: l.sentAt, Received: l.came, Server: l.server})
	return frame, nil
}

// open lets requests through, authentication first: nobody can send before since is set, and it is set with the
// authentication already in the queue.
func (l *link) open(a Attachment) {
	l.attached = true
	l.patience = a.Timeout * 2 / 3
	_ = l.raw.SetDeadline(time.Time{})
	l.mu.Lock()
	l.since = time.Now()
	for _, auth := range l.t.cfg.Auth {
		c := setAuth(auth)
		l.out = c.frame(l.out, xidAuth)
		l.waiting.push(pending{xid: xidAuth, op: opSetAuth, call: c})
	}
	l.mu.Unlock()
	l.t.wg.Go(l.writeLoop)
	l.signal()
	l.t.attached(a)
}
