package locks_test

import (
	"context"
	"encoding/binary"
	"io"
	"net"
	"sync"

	"github.com/gocurator/curator/framework"
)

// Kinds of frames that a server sends: answers, by what they answer, and two more.
const (
	frameHandshake = "handshake"
	frameEvent     = "event"
	framePing      = "ping"
	frameCreate    = "create"
	frameDelete    = "delete"
	frameExists    = "exists"
	frameGet       = "get"
	frameListing   = "listing"
	frameSync      = "sync"
	frameMulti     = "multi"
	frameOther     = "other"
)

var frameKinds = map[int32]string{
	1: frameCreate, 15: frameCreate, 19: frameCreate, 21: frameCreate, 2: frameDelete, 3: frameExists, 4: frameGet,
	12: frameListing, 9: frameSync, 14: frameMulti, 11: framePing,
}

// A change returns what is delivered to the client instead of a frame, which comes without its length. It may return
// anything, nothing included, with lengths or without. It is called with one frame at a time.
type change func(kind string, frame []byte) []byte

// A substitute tells whether a request is to be replaced by one that does nothing: the server does not see it, but its
// answer comes in order, as one of the request's kind, for a change to make something of it.
type substitute func(kind string) bool

// A tamperer stands between one client and its server. It sees every frame in both directions, and changes those of the
// server.
type tamperer struct {
	dial framework.DialFunc

	mu         sync.Mutex
	change     change
	substitute substitute
	dials      int
	requests   map[string]int
}

func newTamperer(dial framework.DialFunc) *tamperer {
	return &tamperer{dial: dial, requests: map[string]int{}}
}

// set replaces what is done to frames; nil leaves them alone.
func (tm *tamperer) set(c change) {
	tm.mu.Lock()
	defer tm.mu.Unlock()
	tm.change = c
}

func (tm *tamperer) replace(s substitute) {
	tm.mu.Lock()
	defer tm.mu.Unlock()
	tm.substitute = s
}

// sent returns how many dials and requests there have been, pings not counted.
func (tm *tamperer) sent() (dials, requests int) {
	tm.mu.Lock()
	defer tm.mu.Unlock()
	for kind, n := range tm.requests {
		if kind != framePing {
			requests += n
		}
	}
	return tm.dials, requests
}

func (tm *tamperer) count(kind string) int {
	tm.mu.Lock()
	defer tm.mu.Unlock()
	return tm.requests[kind]
}

func (tm *tamperer) DialContext(ctx context.Context, network, address string) (net.Conn, error) {
	tm.mu.Lock()
	tm.dials++
	tm.mu.Unlock()
	raw, err := tm.dial(ctx, network, address)
	if err != nil {
		return nil, err
	}
	return &tamperedConn{Conn: raw, by: tm, asked: map[int32]string{}}, nil
}

// A tamperedConn is one connection of the client.
type tamperedConn struct {
	net.Conn
	by *tamperer

	out []byte // the last part of a request that is not whole yet; of the writer
	in  []byte // not read yet by the client; of the reader

	mu     sync.Mutex
	shaken bool // the handshake has been sent
	asked  map[int32]string
}

// Write takes requests, whole or in pieces.
func (c *tamperedConn) Write(p []byte) (int, error) {
	c.out = append(c.out, p...)
	var forward []byte
	for len(c.out) >= 4 {
		n := 4 + int(binary.BigEndian.Uint32(c.out))
		if len(c.out) < n {
			break
		}
		forward = append(forward, c.request(c.out[4:n:n])...)
		c.out = c.out[n:]
	}
	if _, err := c.Conn.Write(forward); err != nil {
		return 0, err
	}
	return len(p), nil
}

// request notes a request and returns the frame that the server gets.
func (c *tamperedConn) request(body []byte) []byte {
	c.mu.Lock()
	defer c.mu.Unlock()
	if !c.shaken {
		c.shaken = true
		return withLength(body)
	}
	xid, op := int32(binary.BigEndian.Uint32(body)), int32(binary.BigEndian.Uint32(body[4:]))
	kind, ok := frameKinds[op]
	if !ok {
		kind = frameOther
	}
	c.asked[xid] = kind
	c.by.mu.Lock()
	c.by.requests[kind]++
	replaced := c.by.substitute != nil && c.by.substitute(kind)
	c.by.mu.Unlock()
	if replaced { // by exists("/")
		body = binary.BigEndian.AppendUint32(binary.BigEndian.AppendUint32(nil, uint32(xid)), 3)
		body = append(body, 0, 0, 0, 1, '/', 0)
	}
	return withLength(body)
}

func (c *tamperedConn) Read(p []byte) (int, error) {
	for len(c.in) == 0 {
		head := make([]byte, 4)
		if _, err := io.ReadFull(c.Conn, head); err != nil {
			return 0, err
		}
		frame := make([]byte, binary.BigEndian.Uint32(head))
		if _, err := io.ReadFull(c.Conn, frame); err != nil {
			return 0, err
		}
		c.in = c.by.changed(c.kind(frame), frame)
	}
	n := copy(p, c.in)
	c.in = c.in[n:]
	return n, nil
}

func (tm *tamperer) changed(kind string, frame []byte) []byte {
	tm.mu.Lock()
	defer tm.mu.Unlock()
	if tm.change == nil {
		return withLength(frame)
	}
	return tm.change(kind, frame)
}

// kind says what a frame of the server is. The first one of a connection answers the handshake.
func (c *tamperedConn) kind(frame []byte) string {
	c.mu.Lock()
	defer c.mu.Unlock()
	if _, begun := c.asked[0]; !begun {
		c.asked[0] = frameHandshake
		return frameHandshake
	}
	switch xid := int32(binary.BigEndian.Uint32(frame)); xid {
	case -1:
		return frameEvent
	case -2:
		return framePing
	default:
		kind := c.asked[xid]
		delete(c.asked, xid)
		return kind
	}
}

func withLength(frame []byte) []byte {
	return append(binary.BigEndian.AppendUint32(nil, uint32(len(frame))), frame...)
}
