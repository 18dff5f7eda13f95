//go:build unix

package zookeeper

import (
	"errors"
	"io"
	"net"
	"sync"
	"time"
)

// A proxy listens on loopback and passes on to a server, which need not be there yet.
type proxy struct {
	listener net.Listener
	target   string
	greeting func(io.Reader) ([]byte, error) // if not nil, reads and rewrites the first words of a connection
	patience time.Duration                   // for how long a connection that the server refuses is tried again
	there    *link                           // from those who dial to the server
	back     *link
	wg       sync.WaitGroup

	mu     sync.Mutex
	relays map[*relay]struct{}
	closed bool
}

// newProxy returns a proxy that takes connections, and serves them once it is started.
func newProxy(target string) (*proxy, error) {
	listener, err := listen()
	if err != nil {
		return nil, err
	}
	p := &proxy{listener: listener, target: target, relays: map[*relay]struct{}{}}
	p.there, p.back = newLink(p), newLink(p)
	return p, nil
}

func (p *proxy) start() { p.wg.Go(p.serve) }

func (p *proxy) addr() string { return p.listener.Addr().String() }

func (p *proxy) links() Links { return Links{p.there, p.back} }

func (p *proxy) serve() {
	for {
		conn, err := p.listener.Accept()
		if errors.Is(err, net.ErrClosed) {
			return
		}
		if err != nil {
			time.Sleep(time.Millisecond) // out of file descriptors, for instance
			continue
		}
		r := &relay{proxy: p, client: conn, gone: make(chan struct{})}
		p.mu.Lock()
		if p.closed {
			p.mu.Unlock()
			_ = conn.Close()
			return
		}
		p.relays[r] = struct{}{}
		p.wg.Go(r.run)
		p.mu.Unlock()
		if !p.there.passes() || !p.back.passes() {
			r.doom()
		}
	}
}

// doom marks what is connected now: it will not survive the healing.
func (p *proxy) doom() {
	for _, r := range p.snapshot() {
		r.doom()
	}
}

func (p *proxy) reset(which func(*relay) bool) {
	for _, r := range p.snapshot() {
		p.mu.Lock()
		chosen := which(r)
		p.mu.Unlock()
		if chosen {
			r.reset()
		}
	}
}

func (p *proxy) snapshot() []*relay {
	p.mu.Lock()
	defer p.mu.Unlock()
	all := make([]*relay, 0, len(p.relays))
	for r := range p.relays {
		all = append(all, r)
	}
	return all
}

func (p *proxy) close() {
	p.mu.Lock()
	p.closed = true
	p.mu.Unlock()
	_ = p.listener.Close()
	p.reset(func(*relay) bool { return true })
	p.wg.Wait()
}
