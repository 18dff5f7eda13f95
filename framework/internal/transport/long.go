package transport

import (
	"encoding/binary"
	"fmt"
	"time"
)

// readPastLong reads past answers that are longer than this client takes, as long as one is next. Its call fails as
// soon as the header is here, and the bytes behind it are dropped as they come. They are signs of life, but they hold
// up all other answers, among them those that renew leases: an answer that takes longer than an eighth of the session
// timeout ends the connection.
func (l *link) readPastLong(limit int) error {
	for {
		head, err := l.in.Peek(4)
		if err != nil {
			return err
		}
		n := int(int32(binary.BigEndian.Uint32(head)))
		if l.in.Buffered() < 4+n {
			l.reading.Store(true)
		}
		if n <= limit { // readFrame refuses what is negative
			return nil
		}
		if head, err = l.in.Peek(4 + headerLen); err != nil {
			return err
		}
		if err := l.refuse(n, limit, head[4:]); err != nil {
			return err
		}
		l.endAt(time.Now(), l.patience*3/16) // patience is 2/3 of the session timeout, so this is 1/8 of it
		if _, err = l.in.Discard(4); err == nil {
			_, err = l.in.Discard(n)
		}
		if err != nil {
			return fmt.Errorf("reading past an answer of %d bytes: %w", n, err)
		}
		l.reading.Store(false)
		l.endAt(time.Now(), l.patience)
	}
}

// refuse fails the call that an answer of n bytes is for, if there can be such an answer to it.
func (l *link) refuse(n, limit int, head []byte) error {
	d := decoder{rest: head}
	h := header{xid: d.int32(), zxid: d.int64(), code: d.int32()}
	if h.xid == xidEvent {
		return garbage("an event of %d bytes", n)
	}
	p, ok := l.answered(h.xid)
	if !ok {
		return garbage("an answer of %d bytes to request %d, which is not the next to be answered", n, h.xid)
	}
	var err error
	switch {
	case !mayBeLong(p.op): // what it did would not be known
		err = garbage("an answer of %d bytes to a request of kind %d", n, p.op)
	case h.code != 0:
		err = garbage("an answer of %d bytes with error code %d", n, h.code)
	default:
		l.zxid, err = l.t.seen.saw(h.zxid, l.zxid)
	}
	if err != nil {
		if p.call != nil {
			p.call.fail(broken(err))
		}
		return err
	}
	l.t.cfg.Events.Answered(p.sent, l.receivedAt, reach(p.op, h.code))
	p.call.fail(fmt.Errorf("%w: the answer has %d bytes, this client takes %d (WithMaxResponse)", ErrTooLarge, n, limit))
	return nil
}

// mayBeLong reports whether the length of an answer is for others to say: for those who made the node. All other
// answers have paths and Stats alone.
func mayBeLong(op int32) bool { return op == opGetData || op == opGetChildren2 || op == opGetACL }
