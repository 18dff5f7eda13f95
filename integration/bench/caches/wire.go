package caches

import (
	"context"
	"encoding/binary"
	"net"
	"sync"
	"time"
)

// A Wire is one client's way to the server. It knows from the frames which requests are under way.
type Wire struct {
	dial func(ctx context.Context, network, address string) (net.Conn, error)

	mu      sync.Mutex
	taps    map[*tap]bool
	changes int // connections made, and cuts
	reads   int // under way
	lap     Lap
}

// NewWire returns a way to what dial reaches.
func NewWire(dial func(ctx context.Context, network, address string) (net.Conn, error)) *Wire {
	return &Wire{dial: dial, taps: make(map[*tap]bool)}
}

// DialContext is what the client dials with.
func (w *Wire) DialContext(ctx context.Context, network, address string) (net.Conn, error) {
	conn, err := w.dial(ctx, network, address)
	if err != nil {
		return nil, err
	}
	t := &tap{Conn: conn, wire: w, pending: make(map[int32]request)}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.taps[t] = true
	w.changes++
	return t, nil
}

// Cut ends the connections. New ones can be made.
func (w *Wire) Cut() {
	w.mu.Lock()
	taps := w.taps
	w.taps = make(map[*tap]bool)
	w.changes++
	w.mu.Unlock()
	for t := range taps {
		_ = t.Close()
	}
}

// Changes is how often a connection was made, or all were cut.
func (w *Wire) Changes() int {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.changes
}

// A Lap is what has happened on a [Wire] for a time.
type Lap struct {
	Reads    int             // most under way at one time
	Renewals []time.Duration // how long the answers to transactions took; a renewal is one
}

// Lap returns what has happened since the last Lap.
func (w *Wire) Lap() Lap {
	w.mu.Lock()
	defer w.mu.Unlock()
	lap := w.lap
	w.lap = Lap{Reads: w.reads}
	return lap
}

// The types of requests that a Wire distinguishes, as on the wire.
const (
	opExists       = 3
	opGetData      = 4
	opGetChildren  = 8
	opGetChildren2 = 12
	opMulti        = 14
	opMultiRead    = 22
)

func isRead(op int32) bool {
	switch op {
	case opExists, opGetData, opGetChildren, opGetChildren2, opMultiRead:
		return true
	default:
		return false
	}
}

type request struct {
	op   int32
	sent time.Time
}

// A tap is one connection. The mutex of its wire guards all but the connection and the frames, each of which only one
// goroutine uses.
type tap struct {
	net.Conn

	wire     *Wire
	out, in  frames
	pending  map[int32]request
	finished bool
}

// Write counts requests from the moment before they are sent.
func (t *tap) Write(p []byte) (int, error) {
	t.wire.mu.Lock()
	t.out.feed(p, func(head []byte) {
		xid, op := int32(binary.BigEndian.Uint32(head)), int32(binary.BigEndian.Uint32(head[4:]))
		if xid <= 0 || t.finished {
			return // a ping and the like, whose numbers are not their own
		}
		t.pending[xid] = request{op, time.Now()}
		if isRead(op) {
			t.wire.reads++
			t.wire.lap.Reads = max(t.wire.lap.Reads, t.wire.reads)
		}
	})
	t.wire.mu.Unlock()
	return t.Conn.Write(p)
}

func (t *tap) Read(p []byte) (int, error) {
	n, err := t.Conn.Read(p)
	t.wire.mu.Lock()
	defer t.wire.mu.Unlock()
	t.in.feed(p[:n], func(head []byte) {
		xid := int32(binary.BigEndian.Uint32(head))
		r, ok := t.pending[xid]
		if !ok {
			return
		}
		delete(t.pending, xid)
		switch {
		case isRead(r.op):
			t.wire.reads--
		case r.op == opMulti:
			t.wire.lap.Renewals = append(t.wire.lap.Renewals, time.Since(r.sent))
		}
	})
	return n, err
}

// Close gives up what is under way.
func (t *tap) Close() error {
	t.wire.mu.Lock()
	for _, r := range t.pending {
		if isRead(r.op) {
			t.wire.reads--
		}
	}
	clear(t.pending)
	t.finished = true
	delete(t.wire.taps, t)
	t.wire.mu.Unlock()
	return t.Conn.Close()
}

// frames finds the frames in one direction of a connection.
type frames struct {
	head   [headSize]byte // the frame's length, and what follows it; no frame is shorter
	filled int            // bytes of head that are known
	rest   int            // bytes of the frame that are to come, once head is full
	begun  bool           // the handshake is over
}

const headSize = 12

// feed calls each with the first 8 bytes behind each frame's length, but for the handshake's. They are valid during the
// call.
func (f *frames) feed(p []byte, each func(head []byte)) {
	for len(p) > 0 {
		if f.filled < headSize {
			n := copy(f.head[f.filled:], p)
			f.filled, p = f.filled+n, p[n:]
			if f.filled < headSize {
				return
			}
			f.rest = int(binary.BigEndian.Uint32(f.head[:])) + 4 - headSize
			if f.begun {
				each(f.head[4:])
			}
			f.begun = true
		}
		n := min(f.rest, len(p))
		f.rest, p = f.rest-n, p[n:]
		if f.rest == 0 {
			f.filled = 0
		}
	}
}
