// Package malformtest spoils frames between a client and its server, for tests of what the client makes of them. A
// [Story] is one use of a client, played once for each [Malformation] of each kind of frames that it gets. Whatever
// stands in a frame, the client must not panic, hang past a context, ask its servers in a hot loop, get a lock beside a
// holder, report what is not so, or leave anything behind; and it must work again when its server is in order.
package malformtest

import (
	"context"
	"encoding/binary"
	"io"
	"net"
	"sync"
)

// Kinds of frames that a server sends: answers, by what they answer, and two more.
const (
	FrameHandshake = "handshake"
	FrameEvent     = "event"
	FramePing      = "ping"
	FrameCreate    = "create"
	FrameDelete    = "delete"
	FrameExists    = "exists"
	FrameGet       = "get"
	FrameListing   = "listing"
	FrameSync      = "sync"
	FrameMulti     = "multi"
	FrameSet       = "set"
	FrameGetACL    = "ACL"
	FrameSetACL    = "set ACL"
	FrameAddWatch  = "add watch"
	FrameUnwatch   = "remove watches"
	FrameWatches   = "set watches"
	FrameAuth      = "authorization"
	FrameSASL      = "SASL"
	FrameOther     = "other"
)

var frameKinds = map[int32]string{
	1: FrameCreate, 15: FrameCreate, 19: FrameCreate, 21: FrameCreate, 2: FrameDelete, 3: FrameExists, 4: FrameGet,
	12: FrameListing, 9: FrameSync, 14: FrameMulti, 11: FramePing, 5: FrameSet, 6: FrameGetACL, 7: FrameSetACL,
	106: FrameAddWatch, 18: FrameUnwatch, 101: FrameWatches, 100: FrameAuth, 102: FrameSASL,
}

// A Change returns what is delivered to the client instead of a frame, which comes without its length. It may return
// anything, nothing included, with lengths or without. It is called with one frame at a time.
type Change func(kind string, frame []byte) []byte

// A Substitute reports whether to replace a request by one that does nothing. The server does not see the request, but
// an answer of its kind comes in order, for a change to make something of it.
type Substitute func(kind string) bool

// A Tamperer stands between one client and its server. It sees every frame in both directions, and changes those of the
// server.
type Tamperer struct {
	dial func(ctx context.Context, network, address string) (net.Conn, error)

	mu         sync.Mutex
	change     Change
	substitute Substitute
	dials      int
	requests   map[string]int
}

// NewTamperer makes one that changes nothing yet and connects by dial.
func NewTamperer(dial func(ctx context.Context, network, address string) (net.Conn, error)) *Tamperer {
	return &Tamperer{dial: dial, requests: map[string]int{}}
}

// Set replaces what is done to frames; nil leaves them alone.
func (tm *Tamperer) Set(c Change) {
	tm.mu.Lock()
	defer tm.mu.Unlock()
	tm.change = c
}

// Replace says which requests are replaced; nil replaces none.
func (tm *Tamperer) Replace(s Substitute) {
	tm.mu.Lock()
	defer tm.mu.Unlock()
	tm.substitute = s
}

// Sent returns how many dials and requests there have been, pings not counted.
func (tm *Tamperer) Sent() (dials, requests int) {
	tm.mu.Lock()
	defer tm.mu.Unlock()
	for kind, n := range tm.requests {
		if kind != FramePing {
			requests += n
		}
	}
	return tm.dials, requests
}

// Count returns how many requests of a kind there have been.
func (tm *Tamperer) Count(kind string) int {
	tm.mu.Lock()
	defer tm.mu.Unlock()
	return tm.requests[kind]
}

// DialContext is the client's dialer.
func (tm *Tamperer) DialContext(ctx context.Context, network, address string) (net.Conn, error) {
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
	by *Tamperer

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
		return WithLength(body)
	}
	xid, op := int32(binary.BigEndian.Uint32(body)), int32(binary.BigEndian.Uint32(body[4:]))
	kind, ok := frameKinds[op]
	if !ok {
		kind = FrameOther
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
	return WithLength(body)
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

func (tm *Tamperer) changed(kind string, frame []byte) []byte {
	tm.mu.Lock()
	defer tm.mu.Unlock()
	if tm.change == nil {
		return WithLength(frame)
	}
	return tm.change(kind, frame)
}

// kind says what a frame of the server is. The first one of a connection answers the handshake.
func (c *tamperedConn) kind(frame []byte) string {
	c.mu.Lock()
	defer c.mu.Unlock()
	if _, begun := c.asked[0]; !begun {
		c.asked[0] = FrameHandshake
		return FrameHandshake
	}
	switch xid := int32(binary.BigEndian.Uint32(frame)); xid {
	case -1:
		return FrameEvent
	case -2:
		return FramePing
	case -4:
		return FrameAuth
	default:
		kind := c.asked[xid]
		delete(c.asked, xid)
		return kind
	}
}

// WithLength puts a frame's length in front of it.
func WithLength(frame []byte) []byte {
	return append(binary.BigEndian.AppendUint32(nil, uint32(len(frame))), frame...)
}
