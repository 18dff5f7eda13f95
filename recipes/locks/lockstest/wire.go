package lockstest

import (
	"encoding/binary"
	"io"
	"net"
	"slices"
	"sync"
	"syscall"
	"time"
)

// An Op is a kind of request, numbered as on the wire.
type Op int32

// The requests that laws speak of.
const (
	Create        Op = 15 // create2, the only one that the framework sends for ephemeral nodes
	Delete        Op = 2
	Exists        Op = 3
	GetData       Op = 4
	SetData       Op = 5
	Sync          Op = 9
	GetChildren   Op = 12
	Multi         Op = 14 // that is no Renewal
	RemoveWatches Op = 18
	SetWatches    Op = 101
	AddWatch      Op = 106
	ping          Op = 11

	// Renewal is a transaction that only checks one node, by which a client renews its session's leases.
	Renewal Op = -14
)

// kind distinguishes a renewal from other transactions. It looks at the headers of the first two parts: a check, and
// the end.
func kind(op Op, body []byte) Op {
	const check, header, end = 13, 9, -1
	if op != Multi || len(body) < header+4 || binary.BigEndian.Uint32(body) != check {
		return op
	}
	second := header + 4 + int(binary.BigEndian.Uint32(body[header:])) + 4
	if len(body) != second+header || int32(binary.BigEndian.Uint32(body[second:])) != end {
		return op
	}
	return Renewal
}

// A wire is one connection of a Link.
type wire struct {
	net.Conn
	link *Link
	down chan struct{} // closed by Close
	once sync.Once

	// Used by the reader alone.
	in    []byte // what has come of the present frame
	ready []byte // the part of a frame that the client has still to read
	shook bool

	mu      sync.Mutex
	greeted bool
	ops     map[int32]Op // requests that are not answered, by xid
}

func (w *wire) Close() error {
	var err error
	w.once.Do(func() {
		close(w.down)
		w.link.forget(w)
		err = w.Conn.Close()
	})
	return err
}

// Write passes on whole frames, as clients write them.
func (w *wire) Write(p []byte) (int, error) {
	if !w.link.awaitRunning(w.down) {
		return 0, io.ErrClosedPipe
	}
	if w.link.isMute() {
		return len(p), nil
	}
	w.link.sent(w.note(p))
	return w.Conn.Write(p)
}

// note remembers the requests in a segment, and returns their kinds.
func (w *wire) note(p []byte) (ops []Op) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for len(p) >= 12 {
		end := min(4+int(binary.BigEndian.Uint32(p)), len(p))
		if w.greeted {
			xid, op := int32(binary.BigEndian.Uint32(p[4:])), Op(binary.BigEndian.Uint32(p[8:]))
			if op = kind(op, p[12:end]); op != ping {
				w.ops[xid] = op
				ops = append(ops, op)
			}
		}
		w.greeted = true
		p = p[end:]
	}
	return ops
}

// Read gives out one frame after the other, as far as faults let it.
func (w *wire) Read(p []byte) (int, error) {
	for len(w.ready) == 0 {
		if err := w.next(); err != nil {
			return 0, err
		}
		if !w.link.awaitRunning(w.down) {
			return 0, io.ErrClosedPipe
		}
		if w.link.isMute() {
			w.ready = nil
			continue
		}
		if err := w.suffer(w.ready); err != nil {
			return 0, err
		}
	}
	n := copy(p, w.ready)
	w.ready = w.ready[n:]
	return n, nil
}

// next reads a frame. A deadline may come in the middle; what has come until then is kept.
func (w *wire) next() error {
	want := 4
	for {
		if len(w.in) >= 4 {
			want = 4 + int(binary.BigEndian.Uint32(w.in))
		}
		if len(w.in) == want {
			w.ready, w.in = w.in, nil
			return nil
		}
		w.in = slices.Grow(w.in, want-len(w.in))
		n, err := w.Conn.Read(w.in[len(w.in):want])
		w.in = w.in[:len(w.in)+n]
		if err != nil {
			return err
		}
	}
}

// suffer does to a frame what is waiting for it.
func (w *wire) suffer(frame []byte) error {
	if !w.shook {
		w.shook = true
		w.shake(frame)
		return nil
	}
	const event = -1
	xid := int32(binary.BigEndian.Uint32(frame[4:]))
	if xid == event {
		w.link.heard()
	}
	w.mu.Lock()
	op := w.ops[xid]
	delete(w.ops, xid)
	w.mu.Unlock()
	const code = 16 // where an answer says why it refuses, after the length, the xid and the zxid
	refused := len(frame) < code+4 || binary.BigEndian.Uint32(frame[code:]) != 0
	f := w.link.take(op, refused)
	switch {
	case f == nil:
		return nil
	case f.held != nil:
		w.link.hold(f.held)
		select {
		case <-f.held:
			return nil
		case <-w.down:
			return io.ErrClosedPipe
		}
	case f.delay == 0:
		if f.cut {
			w.link.Cut()
		}
		_ = w.Close()
		return &net.OpError{Op: "read", Net: "test", Err: syscall.ECONNRESET}
	}
	timer := time.NewTimer(f.delay)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-w.down:
		return io.ErrClosedPipe
	}
}

// shake notes the session of the handshake's answer: length, protocol, timeout, session, password.
func (w *wire) shake(frame []byte) {
	if len(frame) < 24 {
		return
	}
	session := int64(binary.BigEndian.Uint64(frame[12:]))
	password := frame[24:min(24+int(binary.BigEndian.Uint32(frame[20:])), len(frame))]
	w.link.formed(session, slices.Clone(password))
}
