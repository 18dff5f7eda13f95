package main

import (
	"errors"
	"fmt"
	"net"
	"os"
	"sync"

	"github.com/gocurator/curator/framework/zktest"
)

// A door is where clients come in. While it is shut nothing listens there: connections are refused as by a machine on
// which no server runs.
type door struct {
	srv    *zktest.Server
	failed chan error // has room for the one listener that fails

	mu       sync.Mutex
	addr     string
	listener net.Listener // nil while the door is shut
	refuse   bool
	opened   bool
}

func newDoor(srv *zktest.Server, addr string) *door {
	return &door{srv: srv, addr: addr, failed: make(chan error, 1)}
}

// open finds the address, and lets clients in unless connections are to be refused already.
func (d *door) open() error {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.opened = true
	if err := d.listen(); err != nil {
		return err
	}
	if d.refuse {
		d.shut()
	}
	return nil
}

// setRefuse shuts the door, or opens it at the address that it had.
func (d *door) setRefuse(refuse bool) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.refuse = refuse
	d.srv.RefuseConnections(refuse) // also those that wait to be accepted
	switch {
	case !d.opened:
	case refuse:
		d.shut()
	case d.listener == nil:
		return d.listen()
	}
	return nil
}

func (d *door) listen() error {
	l, err := net.Listen("tcp", d.addr)
	if err != nil {
		return listenError(d.addr, err)
	}
	d.addr, d.listener = l.Addr().String(), l
	go func() {
		err := d.srv.Serve(l)
		d.mu.Lock()
		defer d.mu.Unlock()
		if err != nil && d.listener == l { // it was not shut on purpose
			d.failed <- err
		}
	}()
	return nil
}

// listenError says what is wrong with an address, without what the Go runtime says around it.
func listenError(addr string, err error) error {
	var system *os.SyscallError
	if errors.As(err, &system) {
		return fmt.Errorf("-listen %s: cannot listen there: %w; port 0 takes a free one", addr, system.Err)
	}
	return fmt.Errorf("-listen %s: want an address of this machine and a port, as in 127.0.0.1:2181; port 0 takes a free one", addr)
}

func (d *door) shut() {
	if l := d.listener; l != nil {
		d.listener = nil
		l.Close()
	}
}

func (d *door) address() string {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.addr
}
