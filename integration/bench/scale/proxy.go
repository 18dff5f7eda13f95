package main

import (
	"bytes"
	"context"
	"errors"
	"net"
	"sync"
	"time"

	"github.com/gocurator/curator/framework"
)

// A proxy stands between clients and a server, and has everything arrive later. What is on its way is not limited: the delay
// is that of a long line, not of a narrow one.
type proxy struct {
	listener net.Listener
	dial     framework.DialFunc
	delay    time.Duration
	ends     context.CancelFunc
	running  sync.WaitGroup
}

func newProxy(ctx context.Context, dial framework.DialFunc, delay time.Duration) (*proxy, error) {
	listener, err := new(net.ListenConfig).Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithCancel(ctx)
	p := &proxy{listener: listener, dial: dial, delay: delay, ends: cancel}
	p.running.Go(func() {
		for {
			conn, err := listener.Accept()
			if err != nil {
				return
			}
			p.running.Go(func() { p.serve(ctx, conn) })
		}
	})
	return p, nil
}

func (p *proxy) address() string { return p.listener.Addr().String() }

// close ends all connections and returns when nothing of the proxy runs any more.
func (p *proxy) close() error {
	err := p.listener.Close()
	p.ends()
	p.running.Wait()
	if errors.Is(err, net.ErrClosed) {
		return nil
	}
	return err
}

// serve connects a client with the server until either leaves.
func (p *proxy) serve(ctx context.Context, client net.Conn) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	defer client.Close()
	server, err := p.dial(ctx, "tcp", "")
	if err != nil {
		return
	}
	defer server.Close()
	for _, way := range []struct{ from, to net.Conn }{{client, server}, {server, client}} {
		p.running.Go(func() {
			p.pass(way.from, way.to)
			cancel()
		})
	}
	<-ctx.Done()
}

// A parcel is what was read at once, and when it is to arrive.
type parcel struct {
	content []byte
	due     time.Time
}

// pass carries what one end says to the other until the connection ends. It returns when all of it has arrived.
func (p *proxy) pass(from, to net.Conn) {
	line := make(chan parcel, 1<<16) // megabytes: nobody who speaks waits
	delivered := make(chan struct{})
	go func() {
		defer close(delivered)
		for parcel := range line {
			time.Sleep(time.Until(parcel.due))
			if _, err := to.Write(parcel.content); err != nil {
				from.Close()
			}
		}
	}()
	defer func() {
		close(line)
		<-delivered
	}()
	for buffer := make([]byte, 64<<10); ; {
		n, err := from.Read(buffer)
		if n > 0 {
			line <- parcel{bytes.Clone(buffer[:n]), time.Now().Add(p.delay)}
		}
		if err != nil {
			return
		}
	}
}
