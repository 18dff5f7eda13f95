package transport

import (
	"encoding/binary"
	"errors"
	"fmt"
	"time"

	"github.com/go-zookeeper/zk"
)

// Read gives go-zookeeper the handshake's answer, and then the answers to its own requests.
func (l *link) Read(p []byte) (int, error) {
	for len(l.unread) == 0 {
		frame, err := l.next()
		if err == nil && !l.attached {
			l.unread, err = l.shake(frame)
		} else if err == nil {
			l.unread, err = l.dispatch(frame)
		}
		if err != nil {
			return 0, l.detach(err)
		}
	}
	n := copy(p, l.unread)
	l.unread = l.unread[n:]
	return n, nil
}

// next reads a frame. The time at which silence ends the connection is moved only when a good part of it is used up:
// moving it costs more than reading a small frame.
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
	if l.reading.Load() { // a store for each frame would be dear
		l.reading.Store(false)
	}
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
	a.receivedAt = a.t.cfg.Clock.Now()
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
	p.call.came = len(frame)
	return nil, l.complete(p, h, d)
}

// passOn returns the answer to a request of go-zookeeper: its header alone, since these requests are pings, and a
// longer answer than its buffer ends its reader.
func (l *link) passOn(frame []byte, p pending, h header) ([]byte, error) {
	switch err := l.refusal(p.op, h.code); {
	case err != nil:
		l.t.failed(l.server, err)
		return nil, err
	case h.code != 0:
		return nil, garbage("a ping is answered with error code %d", h.code)
	}
	l.served = true
	l.pinged(p.sent)
	l.t.cfg.Events.Answered(p.sent, l.receivedAt, reach(p.op, h.code))
	binary.BigEndian.PutUint32(frame, headerLen)
	return frame[:4+headerLen], nil
}

// complete completes a call with its answer. An error that it returns ends the connection; the call then fails with it,
// like the calls that wait behind it.
func (l *link) complete(p pending, h header, d *decoder) error {
	if p.call.added && refusesAuth(h.code) {
		p.call.fail(ErrAuth)
		return errAddedRefused
	}
	a, err := l.examine(p, h, d)
	if err != nil {
		p.call.fail(broken(err))
		return err
	}
	l.answers++
	if p.op == opPing {
		l.pinged(p.sent)
	}
	l.t.slow.answered(p.op, l.receivedAt.Sub(p.sent), l.patience)
	l.t.cfg.Support.answered(p.op, h.code, p.call.Size(), l.server)
	if p.op != opSetAuth { // servers handle SetAuth apart: for them it is no sign of life of the session
		l.served = true
		l.t.cfg.Events.Answered(p.sent, l.receivedAt, reach(p.op, h.code))
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

// examine takes an answer apart. No callback has seen any of it before examine returns.
func (l *link) examine(p pending, h header, d *decoder) (a answer, err error) {
	switch err := l.refusal(p.op, h.code); {
	case err != nil:
		l.t.failed(l.server, err)
		return a, err
	case p.op == opSetAuth && h.code != 0: // the connection is of no use without it, the next one may be
		return a, garbage("an authorization is answered with error code %d", h.code)
	case h.code == codeAuthFailed, h.code == codeSaslRequired:
		// not %w: a code that is not passing keeps callers from trying again
		return a, garbage("%s is answered as an authentication: %v", opName(p.op), Code(h.code))
	case h.code > 0:
		return a, garbage("error code %d", h.code)
	case h.code == codeSessionExpired, h.code == codeSessionMoved:
		return a, disowned(toError(h.code))
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
	if err := p.call.check(&a, h, l.session); err != nil {
		return a, err
	}
	for _, r := range a.results { // servers say it there under a header without an error
		if errors.Is(r.Err, zk.ErrSessionExpired) || errors.Is(r.Err, zk.ErrSessionMoved) {
			return a, disowned(r.Err)
		}
	}
	return a, nil
}

// disowned is the error of an answer that says that the session has ended or is another server's. It proves nothing
// about the session, and the next handshake shows whether there still is one.
func disowned(err error) error { return fmt.Errorf("the server disowns the session: %w", err) }

// refusal says whether an answer means that this client is not welcome at all. That ends the client for good, so it is
// believed only where servers say it (org.apache.zookeeper.server.ZooKeeperServer.processPacket): in the answer to an
// authentication, and, if SASL is required, in the answer to the first other request of a connection, a ping included.
// The server has authenticated the connection before it answers any other, and does not ask for that again.
func (l *link) refusal(op, code int32) error {
	switch {
	case op == opSetAuth && refusesAuth(code):
		return ErrAuth
	case code == codeSaslRequired && !l.served:
		return errUnproven
	default:
		return nil
	}
}

// refusesAuth reports whether a code refuses an authorization. Servers use no other: an overloaded server, or a byte
// that was changed on the way, must not end a client.
func refusesAuth(code int32) bool { return code == codeAuthFailed || code == codeSaslRequired }
