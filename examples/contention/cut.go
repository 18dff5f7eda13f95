package main

import (
	"context"
	"net"
	"sync"
	"syscall"

	"github.com/gocurator/curator/framework"
)

// A line is one worker's way to the servers. It is a dialer, and it can be cut.
type line struct {
	dial framework.DialFunc

	mu    sync.Mutex
	isCut bool
	conns []net.Conn
}

// DialContext opens a connection, unless the line is cut.
func (l *line) DialContext(ctx context.Context, network, address string) (net.Conn, error) {
	l.mu.Lock()
	refused := l.isCut
	l.mu.Unlock()
	if refused {
		return nil, syscall.ECONNREFUSED
	}
	conn, err := l.dial(ctx, network, address)
	if err != nil {
		return nil, err
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.isCut { // while we dialed
		conn.Close()
		return nil, syscall.ECONNREFUSED
	}
	l.conns = append(l.conns, conn)
	return conn, nil
}

// cut closes the worker's connections, without a word to the server, and lets no other be made.
func (l *line) cut() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.isCut = true
	for _, conn := range l.conns {
		conn.Close()
	}
}
