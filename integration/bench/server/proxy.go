package server

import (
	"bytes"
	"io"
	"net"
	"strings"
	"sync"
	"time"

	"github.com/gocurator/curator/integration/bench/job"
)

// A Proxy stands between clients and a server, and passes on what comes from either side after a delay. It delays, and
// does not throttle: any number of chunks are under way at a time.
type Proxy struct {
	Addr string

	server   string
	delay    time.Duration
	clock    job.Clock
	listener net.Listener
	links    sync.WaitGroup

	mu    sync.Mutex
	conns map[net.Conn]bool // nil after Close
}

// A chunk is what was read at once, and when it is due on the other side.
type chunk struct {
	data []byte
	due  int64
}

// underWay is how many chunks a direction of a connection has room for. At 64 kB a chunk that is more than fits on the
// way.
const underWay = 4096

// Delay starts a proxy before a server.
func Delay(server string, delay time.Duration) (*Proxy, error) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	p := &Proxy{
		Addr: listener.Addr().String(), server: server, delay: delay,
		clock: job.NewClock(), listener: listener, conns: make(map[net.Conn]bool),
	}
	p.links.Go(p.accept)
	return p, nil
}

// DelayAll starts a proxy before each of several servers, whose addresses are separated by commas, and returns theirs.
func DelayAll(servers string, delay time.Duration) (addrs string, stop func(), err error) {
	var proxies []*Proxy
	stop = func() {
		for _, p := range proxies {
			p.Close()
		}
	}
	var all []string
	for server := range strings.SplitSeq(servers, ",") {
		p, err := Delay(server, delay)
		if err != nil {
			stop()
			return "", nil, err
		}
		proxies, all = append(proxies, p), append(all, p.Addr)
	}
	return strings.Join(all, ","), stop, nil
}

// Close cuts all connections and returns when nothing is left of the proxy.
func (p *Proxy) Close() {
	p.listener.Close()
	p.mu.Lock()
	for conn := range p.conns {
		conn.Close()
	}
	p.conns = nil
	p.mu.Unlock()
	p.links.Wait()
}

func (p *Proxy) accept() {
	for {
		client, err := p.listener.Accept()
		if err != nil {
			return // closed
		}
		server, err := net.Dial("tcp", p.server)
		if err != nil {
			client.Close()
			continue
		}
		if !p.keep(client, server) {
			return
		}
		p.forward(client, server)
		p.forward(server, client)
	}
}

func (p *Proxy) keep(conns ...net.Conn) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, conn := range conns {
		if p.conns == nil {
			conn.Close()
			continue
		}
		p.conns[conn] = true
	}
	return p.conns != nil
}

func (p *Proxy) drop(conn net.Conn) {
	conn.Close()
	p.mu.Lock()
	defer p.mu.Unlock()
	delete(p.conns, conn)
}

// forward copies one direction, with a reader that stamps and a writer that waits. The end of the stream is delayed,
// too.
func (p *Proxy) forward(from, to net.Conn) {
	way := make(chan chunk, underWay)
	p.links.Go(func() {
		defer close(way)
		buffer := make([]byte, 64<<10)
		for {
			n, err := from.Read(buffer)
			way <- chunk{data: bytes.Clone(buffer[:n]), due: p.clock.Now() + int64(p.delay)}
			if err != nil {
				return
			}
		}
	})
	p.links.Go(func() {
		defer p.drop(to)
		if err := deliver(way, to); err != nil {
			p.drop(from)
			for range way { // until the reader has noticed
			}
		}
	})
}

func deliver(way <-chan chunk, to io.Writer) error {
	alarm, err := newAlarm()
	if err != nil {
		return err
	}
	defer alarm.close()
	for c := range way {
		if err := alarm.wait(c.due); err != nil {
			return err
		}
		if _, err := to.Write(c.data); err != nil {
			return err
		}
	}
	return nil
}
