//go:build linux

package interop_test

import (
	"encoding/binary"
	"io"
	"net"
	"sync"
	"testing"
)

// A proxy stands between a client and the server and breaks connections on request. It listens on loopback for as long
// as the test lasts.
type proxy struct {
	listener net.Listener
	server   string

	mu     sync.Mutex
	links  map[*link]bool
	closed bool // refuses connections
	lose   *loss
	frozen chan struct{} // while links are frozen; closed when they thaw
}

// A loss is the answer to a change that a client does not get.
type loss struct {
	of       string
	happened chan struct{} // closed when the server has answered
	then     func(p *proxy, l *link)
}

// Of what may happen to the connection whose answer was lost:

// silence leaves it open, but nothing comes any more.
func silence(_ *proxy, l *link) { l.mute = true }

// cut cuts it. The client may come back.
func cut(_ *proxy, l *link) { l.close() }

// away cuts it, and no client can come back before mend.
func away(p *proxy, l *link) {
	p.mu.Lock()
	p.closed = true
	p.mu.Unlock()
	l.close()
}

func newProxy(t testing.TB, server string) *proxy {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	p := &proxy{listener: listener, server: server, links: map[*link]bool{}}
	var serving sync.WaitGroup
	serving.Go(func() {
		for {
			conn, err := listener.Accept()
			if err != nil {
				return
			}
			serving.Go(func() { p.serve(conn) })
		}
	})
	t.Cleanup(func() {
		listener.Close()
		p.thaw()
		p.refuse(true)
		p.cutAll()
		serving.Wait()
	})
	return p
}

func (p *proxy) addr() string { return p.listener.Addr().String() }

// loseCreate has the next answer to a successful creation of a lock node lost.
func (p *proxy) loseCreate(then func(*proxy, *link)) *loss {
	return p.loseAnswer(&loss{of: creation, happened: make(chan struct{}), then: then})
}

// loseDelete has the next answer to a successful deletion of a lock node lost.
func (p *proxy) loseDelete(then func(*proxy, *link)) *loss {
	return p.loseAnswer(&loss{of: deletion, happened: make(chan struct{}), then: then})
}

// loseSet has the next answer to a successful setting of data lost.
func (p *proxy) loseSet(then func(*proxy, *link)) *loss {
	return p.loseAnswer(&loss{of: setting, happened: make(chan struct{}), then: then})
}

func (p *proxy) loseAnswer(l *loss) *loss {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.lose = l
	return l
}

// refuse says whether clients are refused.
func (p *proxy) refuse(refuse bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.closed = refuse
}

// freeze holds back everything that is under way or comes, in both directions, until thaw.
func (p *proxy) freeze() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.frozen == nil {
		p.frozen = make(chan struct{})
	}
}

func (p *proxy) thaw() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.frozen != nil {
		close(p.frozen)
		p.frozen = nil
	}
}

// pass waits while links are frozen.
func (p *proxy) pass() {
	p.mu.Lock()
	frozen := p.frozen
	p.mu.Unlock()
	if frozen != nil {
		<-frozen
	}
}

// cutAll cuts the connections that there are.
func (p *proxy) cutAll() {
	p.mu.Lock()
	defer p.mu.Unlock()
	for l := range p.links {
		l.close()
	}
}

// A link is one connection of a client, and the one to the server that belongs to it.
type link struct {
	client, server net.Conn
	mute           bool // used by one goroutine

	mu      sync.Mutex
	changes map[uint32]string // by xid
}

func (l *link) close() {
	l.client.Close()
	l.server.Close()
}

func (p *proxy) serve(client net.Conn) {
	defer client.Close()
	server, err := net.Dial("tcp", p.server)
	if err != nil {
		return
	}
	defer server.Close()
	l := &link{client: client, server: server, changes: map[uint32]string{}}
	p.mu.Lock()
	if p.closed {
		p.mu.Unlock()
		return
	}
	p.links[l] = true
	p.mu.Unlock()
	defer func() {
		p.mu.Lock()
		delete(p.links, l)
		p.mu.Unlock()
	}()
	var both sync.WaitGroup
	both.Go(func() { l.copy(server, client, p.pass, l.request) })
	both.Go(func() { l.copy(client, server, p.pass, func(frame []byte) { p.answer(l, frame) }) })
	both.Wait()
}

// copy copies frames, each after a look at it, when pass returns.
func (l *link) copy(to io.Writer, from io.Reader, pass func(), look func(frame []byte)) {
	defer l.close()
	for first := true; ; first = false {
		var size [4]byte
		if _, err := io.ReadFull(from, size[:]); err != nil {
			return
		}
		frame := make([]byte, 4+binary.BigEndian.Uint32(size[:]))
		copy(frame, size[:])
		if _, err := io.ReadFull(from, frame[4:]); err != nil {
			return
		}
		if !first { // the handshake has another form
			look(frame[4:])
		}
		pass()
		if l.mute && to == l.client {
			continue
		}
		if _, err := to.Write(frame); err != nil {
			return
		}
	}
}

// answer does to the answer to a change what is asked for.
func (p *proxy) answer(l *link, frame []byte) {
	xid := binary.BigEndian.Uint32(frame)
	l.mu.Lock()
	change, changed := l.changes[xid]
	delete(l.changes, xid)
	l.mu.Unlock()
	if !changed || isError(frame) {
		return
	}
	p.mu.Lock()
	lose := p.lose
	if lose != nil && lose.of != change {
		lose = nil
	}
	if lose != nil {
		p.lose = nil
	}
	p.mu.Unlock()
	if lose != nil {
		lose.then(p, l)
		close(lose.happened)
	}
}
