//go:build js && wasm

package main

import (
	"context"
	"errors"
	"net"
	"sync"
	"syscall"
	"syscall/js"
)

// A network is the way of this process to the others: connections over messages that the page carries. It is the
// server's net.Listener, too.
type network struct {
	host     js.Value
	begin    chan struct{} // closed when the page says that the workers are to begin
	accepted chan net.Conn
	orders   func(order string, worker int)

	mu    sync.Mutex
	last  int // number of the newest connection that was dialed
	begun bool
	ends  map[int]*end
}

// An end is this process's end of a connection.
type end struct {
	number int
	pipe   net.Conn // the inner half; the client or the server has the outer one
	accept func()   // closes opened
	opened chan struct{}
	refuse func() // closes gone
	gone   chan struct{}

	mu      sync.Mutex
	arrived [][]byte
	over    bool          // the other process has closed it
	more    chan struct{} // has room for one
}

func newNetwork(host js.Value) *network {
	return &network{host: host, begin: make(chan struct{}), accepted: make(chan net.Conn, 64), ends: make(map[int]*end)}
}

// listen takes the page's messages from now on. They come on the process's only thread, so nothing here may block.
func (n *network) listen(orders func(order string, worker int)) {
	n.orders = orders
	n.host.Set("receive", js.FuncOf(func(_ js.Value, args []js.Value) any {
		n.receive(args[0].String(), args[1].Int(), args[2])
		return nil
	}))
	n.host.Call("listens")
}

// receive handles a message: its kind, the number of a connection or worker, and bytes.
func (n *network) receive(kind string, number int, data js.Value) {
	n.mu.Lock()
	defer n.mu.Unlock()
	e := n.ends[number]
	switch {
	case kind == "begin":
		if !n.begun {
			n.begun = true
			close(n.begin)
		}
	case kind == "dial" && e == nil:
		conn := n.open(number)
		select {
		case n.accepted <- conn:
			n.host.Call("send", "accept", number)
		default: // too many at one time, as for a listener whose backlog is full
			conn.Close() // carry says so to the other process
		}
	case kind == "accept" && e != nil:
		e.accept()
	case kind == "data" && e != nil:
		bytes := make([]byte, data.Length())
		js.CopyBytesToGo(bytes, data)
		e.push(bytes, false)
	case kind == "close" && e != nil:
		delete(n.ends, number)
		e.refuse()
		e.push(nil, true)
	case kind == "accept", kind == "data", kind == "close": // their connection is closed
	case n.orders != nil:
		go n.orders(kind, number)
	}
}

// open makes this process's end of a connection, and returns what the client or the server reads and writes.
func (n *network) open(number int) net.Conn {
	ours, theirs := net.Pipe()
	e := &end{number: number, pipe: ours, opened: make(chan struct{}), gone: make(chan struct{}), more: make(chan struct{}, 1)}
	e.accept, e.refuse = sync.OnceFunc(func() { close(e.opened) }), sync.OnceFunc(func() { close(e.gone) })
	n.ends[number] = e
	go e.deliver()
	go n.carry(e)
	return theirs
}

// dial is the client's dialer.
func (n *network) dial(ctx context.Context, _, _ string) (net.Conn, error) {
	n.mu.Lock()
	n.last++
	conn := n.open(n.last)
	e := n.ends[n.last]
	n.mu.Unlock()
	n.host.Call("send", "dial", e.number)
	select {
	case <-e.opened:
		return conn, nil
	case <-e.gone:
		return nil, syscall.ECONNREFUSED
	case <-ctx.Done():
		conn.Close()
		return nil, context.Cause(ctx)
	}
}

// carry sends what this process writes, until it closes the connection.
func (n *network) carry(e *end) {
	buffer := make([]byte, 64<<10)
	for {
		k, err := e.pipe.Read(buffer)
		if err != nil {
			break
		}
		bytes := js.Global().Get("Uint8Array").New(k)
		js.CopyBytesToJS(bytes, buffer[:k])
		n.host.Call("send", "data", e.number, bytes)
	}
	e.push(nil, true)
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.ends[e.number] == e {
		delete(n.ends, e.number)
		n.host.Call("send", "close", e.number)
	}
}

func (e *end) push(bytes []byte, over bool) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.over = e.over || over
	if len(bytes) > 0 {
		e.arrived = append(e.arrived, bytes)
	}
	select {
	case e.more <- struct{}{}:
	default:
	}
}

// deliver lets this process read what has arrived, and then the end of the connection.
func (e *end) deliver() {
	defer e.pipe.Close()
	for range e.more {
		e.mu.Lock()
		arrived, over := e.arrived, e.over
		e.arrived = nil
		e.mu.Unlock()
		for _, bytes := range arrived {
			if _, err := e.pipe.Write(bytes); err != nil {
				return
			}
		}
		if over {
			return
		}
	}
}

// Accept returns the next connection of a worker.
func (n *network) Accept() (net.Conn, error) {
	if conn, open := <-n.accepted; open {
		return conn, nil
	}
	return nil, net.ErrClosed
}

// Close is for net.Listener. The server listens for as long as the process lives.
func (n *network) Close() error { return errors.ErrUnsupported }

// Addr names the listener.
func (n *network) Addr() net.Addr { return address{} }

type address struct{}

func (address) Network() string { return "page" }
func (address) String() string  { return "page" }
