package main

import (
	"context"
	"encoding/binary"
	"errors"
	"net"
	"sync"
	"sync/atomic"
)

// A tally counts the frames that clients exchange with servers, by what they are. Unlike the servers' own figures it
// has no gap when a server is killed.
type tally struct {
	dials, refused  atomic.Int64 // attempts to connect, and those that failed
	handshakes      atomic.Int64 // connect requests
	requests, pings atomic.Int64 // requests without pings
	answers, events atomic.Int64 // answers include those to pings and handshakes
	sent, received  atomic.Int64 // bytes

	mu    sync.Mutex
	isCut bool // no connection is made
	conns map[net.Conn]bool
}

// A count is what a tally has at one moment.
type count struct{ dials, refused, handshakes, requests, pings, events, sent, received number }

func (t *tally) now() count {
	return count{
		number(t.dials.Load()), number(t.refused.Load()), number(t.handshakes.Load()), number(t.requests.Load()),
		number(t.pings.Load()), number(t.events.Load()), number(t.sent.Load()), number(t.received.Load()),
	}
}

func (c count) minus(d count) count {
	return count{
		c.dials - d.dials, c.refused - d.refused, c.handshakes - d.handshakes, c.requests - d.requests,
		c.pings - d.pings, c.events - d.events, c.sent - d.sent, c.received - d.received,
	}
}

// dial connects, and counts what passes.
func (t *tally) dial(ctx context.Context, _, address string) (net.Conn, error) {
	t.dials.Add(1)
	conn, err := connect(ctx, address)
	if err == nil {
		err = t.open(conn)
	}
	if err != nil {
		t.refused.Add(1)
		return nil, err
	}
	return &wire{Conn: conn, tally: t}, nil
}

func (t *tally) open(conn net.Conn) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.isCut {
		return errors.Join(errors.New("the network is cut"), conn.Close())
	}
	if t.conns == nil {
		t.conns = make(map[net.Conn]bool)
	}
	t.conns[conn] = true
	return nil
}

// cut breaks all connections, and lets none be made before heal.
func (t *tally) cut() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.isCut = true
	for conn := range t.conns {
		_ = conn.Close() // a reader may close it, too
	}
}

func (t *tally) heal() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.isCut = false
}

// A wire is a connection whose frames are counted. As a client has it, one goroutine reads and one writes.
type wire struct {
	net.Conn

	tally   *tally
	there   frames
	back    frames
	greeted bool // the first frame was sent, which has no number and no type
}

// Close forgets the connection.
func (w *wire) Close() error {
	w.tally.mu.Lock()
	delete(w.tally.conns, w.Conn)
	w.tally.mu.Unlock()
	return w.Conn.Close()
}

func (w *wire) Write(p []byte) (int, error) {
	n, err := w.Conn.Write(p)
	w.tally.sent.Add(int64(n))
	w.there.feed(p[:n], w.asked)
	return n, err
}

func (w *wire) Read(p []byte) (int, error) {
	n, err := w.Conn.Read(p)
	w.tally.received.Add(int64(n))
	w.back.feed(p[:n], w.answered)
	return n, err
}

// asked counts a request by its type, which lies behind its number.
func (w *wire) asked(head []byte) {
	const ping = 11
	switch {
	case !w.greeted:
		w.greeted = true
		w.tally.handshakes.Add(1)
	case len(head) == 8 && binary.BigEndian.Uint32(head[4:]) == ping:
		w.tally.pings.Add(1)
	default:
		w.tally.requests.Add(1)
	}
}

// answered counts an answer or an event, whose number is -1.
func (w *wire) answered(head []byte) {
	if len(head) >= 4 && binary.BigEndian.Uint32(head) == 1<<32-1 {
		w.tally.events.Add(1)
		return
	}
	w.tally.answers.Add(1)
}

// frames finds where frames begin in a stream that comes in pieces of any length.
type frames struct {
	head [12]byte // the length, and the first 8 bytes behind it
	have int      // bytes of head
	left int      // bytes of the frame behind head
}

// feed calls frame for each frame whose head is complete, with at most 8 bytes behind the length.
func (f *frames) feed(p []byte, frame func(head []byte)) {
	for len(p) > 0 {
		if f.left > 0 {
			n := min(f.left, len(p))
			p, f.left = p[n:], f.left-n
			continue
		}
		n := copy(f.head[f.have:f.need()], p)
		p, f.have = p[n:], f.have+n
		if f.have == f.need() {
			frame(f.head[4:f.have])
			f.left, f.have = f.length()-(f.have-4), 0
		}
	}
}

func (f *frames) length() int { return int(binary.BigEndian.Uint32(f.head[:])) }

// need is how long the head is, as far as it is known.
func (f *frames) need() int {
	if f.have < 4 {
		return 4
	}
	return 4 + min(8, f.length())
}
