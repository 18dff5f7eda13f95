package transport

import (
	"encoding/binary"
	"fmt"
	"runtime"
)

// send queues calls, all or none, and has them written.
func (l *link) send(calls []*Call) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if !l.queueLocked(calls) {
		return false
	}
	l.signal()
	return true
}

// queueLocked queues calls, all or none.
func (l *link) queueLocked(calls []*Call) bool {
	if l.openedAt.IsZero() || l.reason != nil {
		return false
	}
	for _, c := range calls {
		xid := l.nextXid
		switch {
		case c.op == opSetAuth:
			xid = xidAuth
		case c.op == opPing:
			xid = xidPing
		case l.nextXid == xidLast:
			l.nextXid = xidFirst
		default:
			l.nextXid++
		}
		l.out = c.frame(l.out, xid)
		l.waiting.push(pending{xid: xid, op: c.op, call: c})
	}
	return true
}

func (l *link) signal() {
	select {
	case l.wake <- struct{}{}:
	default:
	}
}

// Write takes one frame of go-zookeeper: the handshake first, requests and pings after it.
func (l *link) Write(frame []byte) (int, error) {
	if len(frame) < 12 {
		return 0, fmt.Errorf("transport: go-zookeeper wrote %d bytes, which is no frame", len(frame))
	}
	l.mu.Lock()
	if l.openedAt.IsZero() {
		l.mu.Unlock()
		return l.writeHandshake(frame)
	}
	defer l.mu.Unlock()
	if l.reason != nil {
		return len(frame), nil // an error here could wedge go-zookeeper; the reader reports it
	}
	l.out = append(l.out, frame...)
	l.waiting.push(pending{
		xid: int32(binary.BigEndian.Uint32(frame[4:])),
		op:  int32(binary.BigEndian.Uint32(frame[8:])),
	})
	l.signal()
	return len(frame), nil
}

// writeLoop puts queued frames on the wire until the link dies.
func (l *link) writeLoop() {
	for {
		select {
		case <-l.wake:
		case <-l.dead:
			return
		}
		for {
			if l.crowded() {
				// a goroutine that is about to send something does so now, and it goes with the same write
				runtime.Gosched()
			}
			batch := l.takeBatch()
			if len(batch) == 0 {
				break
			}
			l.stuck.Reset(l.patience)
			_, err := l.raw.Write(batch)
			l.stuck.Stop()
			if err != nil {
				l.fail(err)
				return
			}
			l.wrote(batch)
		}
	}
}

// crowded reports whether a request that is to be written is not alone: others are on their way, so more are likely to
// come.
func (l *link) crowded() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.waiting.first < l.waiting.written && l.waiting.written < len(l.waiting.all)
}

// takeBatch takes the queued frames and stamps them with the time just before they are written: what is counted from a
// frame's time must never be later than the truth. It gives none while another goroutine writes, but for what that has
// left. wrote must follow.
func (l *link) takeBatch() []byte {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.reason != nil {
		return nil
	}
	if rest := l.rest; len(rest) > 0 { // stamped already
		l.rest = nil
		return rest
	}
	batch := l.out
	if len(batch) == 0 || l.writing {
		return nil
	}
	l.writing = true
	l.out, l.spare = l.spare, nil
	l.waiting.stamp(l.t.cfg.Clock.Now())
	return batch
}

// wrote ends the write of a batch, whose memory is used again. It reports whether there is more to write.
func (l *link) wrote(batch []byte) (more bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.writing = false
	l.spare = batch[:0]
	return len(l.out) > 0
}
