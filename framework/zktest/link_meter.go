package zktest

import (
	"encoding/binary"
	"slices"
	"sync"
)

// MostUnderWay measures how many requests of the given kinds, or of all, clients
// of the link have under way at one time: written to a connection that is made
// from now on, and neither answered, as far as the client has read, nor given up
// with the connection. A request whose answer is lost stays under way. most
// returns the highest number so far.
func (l *Link) MostUnderWay(ops ...Op) (most func() int) {
	m := &meter{ops: ops}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.meters = append(l.meters, m)
	return func() int {
		m.mu.Lock()
		defer m.mu.Unlock()
		return m.most
	}
}

type meter struct {
	ops []Op // empty: all

	mu        sync.Mutex
	now, most int
}

// A pipeMeter is a meter at the client's end of one connection.
type pipeMeter struct {
	*meter

	// Guarded by the meter's mutex.
	up, down frameHeads
	xids     []int32 // those of the requests under way
	over     bool    // the client has closed the connection
}

func (m *pipeMeter) wrote(p []byte) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.up.cut(p, func(head [8]byte) {
		xid, op := int32(binary.BigEndian.Uint32(head[:])), Op(binary.BigEndian.Uint32(head[4:]))
		if m.over || len(m.ops) > 0 && !slices.Contains(m.ops, op) {
			return
		}
		m.xids = append(m.xids, xid)
		m.now++
		m.most = max(m.most, m.now)
	})
}

// read takes what the client reads. Events have a number that no request has.
func (m *pipeMeter) read(p []byte) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.down.cut(p, func(head [8]byte) {
		if i := slices.Index(m.xids, int32(binary.BigEndian.Uint32(head[:]))); i >= 0 {
			m.xids = slices.Delete(m.xids, i, i+1)
			m.now--
		}
	})
}

func (m *pipeMeter) closed() {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.now -= len(m.xids)
	m.xids, m.over = nil, true
}

// frameHeads finds the first eight bytes of each frame of a stream behind the handshake, which is its first frame.
type frameHeads struct {
	shaken bool
	head   []byte // the frame's length, and what it begins with, as far as it has come
	rest   int    // what of the frame lies behind that
}

func (f *frameHeads) cut(p []byte, frame func(head [8]byte)) {
	for len(p) > 0 {
		if f.rest > 0 {
			n := min(f.rest, len(p))
			p, f.rest = p[n:], f.rest-n
			continue
		}
		n := min(12-len(f.head), len(p)) // no frame is shorter
		f.head, p = append(f.head, p[:n]...), p[n:]
		if len(f.head) < 12 {
			return
		}
		if f.rest = int(binary.BigEndian.Uint32(f.head)) - 8; f.shaken {
			frame([8]byte(f.head[4:]))
		}
		f.shaken, f.head = true, f.head[:0]
	}
}
