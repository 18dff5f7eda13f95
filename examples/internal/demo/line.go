package demo

import (
	"context"
	"net"
	"sync"
	"syscall"
)

// A Line is one client's way to the servers. It is a dialer, and it can be broken.
type Line struct {
	dial func(ctx context.Context, network, address string) (net.Conn, error)

	mu    sync.Mutex
	cut   bool
	mute  bool
	conns []net.Conn
}

// NewLine makes a line over a dialer.
func NewLine(dial func(ctx context.Context, network, address string) (net.Conn, error)) *Line {
	return &Line{dial: dial}
}

// Cut closes the client's connections, without a word to the server, and lets no other be made: the process was killed,
// or the cable pulled.
func (l *Line) Cut() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.cut = true
	l.reset()
}

// Mute swallows everything in both directions, and neither end notices: a firewall that forgot the connection, a broken
// switch.
func (l *Line) Mute() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.mute = true
}

// Heal undoes Cut and Mute. What was swallowed is lost, so the connections of that time are closed.
func (l *Line) Heal() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.reset()
	l.cut, l.mute = false, false
}

func (l *Line) reset() {
	for _, conn := range l.conns {
		conn.Close()
	}
	l.conns = nil
}

func (l *Line) isMute() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.mute
}

func (l *Line) isCut() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.cut
}

// DialContext opens a connection, unless the line is cut.
func (l *Line) DialContext(ctx context.Context, network, address string) (net.Conn, error) {
	if l.isCut() {
		return nil, syscall.ECONNREFUSED
	}
	conn, err := l.dial(ctx, network, address)
	if err != nil {
		return nil, err
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.cut { // while we dialed
		conn.Close()
		return nil, syscall.ECONNREFUSED
	}
	l.conns = append(l.conns, conn)
	return &mutable{Conn: conn, line: l}, nil
}

// mutable is a connection that nothing comes through while its line is mute.
type mutable struct {
	net.Conn
	line *Line
}

func (c *mutable) Read(p []byte) (int, error) {
	for {
		n, err := c.Conn.Read(p)
		if err != nil || !c.line.isMute() {
			return n, err
		}
	}
}

func (c *mutable) Write(p []byte) (int, error) {
	if c.line.isMute() {
		return len(p), nil
	}
	return c.Conn.Write(p)
}
