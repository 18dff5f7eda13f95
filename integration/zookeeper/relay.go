//go:build unix

package zookeeper

import (
	"net"
	"slices"
	"sync"
	"time"
)

// A relay is one connection through a proxy.
type relay struct {
	proxy  *proxy
	client net.Conn
	gone   chan struct{}
	once   sync.Once

	// Guarded by proxy.mu.
	server net.Conn
	doomed bool
}

func (r *relay) doom() {
	r.proxy.mu.Lock()
	defer r.proxy.mu.Unlock()
	r.doomed = true
}

// reset breaks both connections, if they are not closed already.
func (r *relay) reset() {
	r.once.Do(func() {
		close(r.gone)
		r.proxy.mu.Lock()
		server := r.server
		r.proxy.mu.Unlock()
		for _, conn := range []net.Conn{r.client, server} {
			if tcp, ok := conn.(*net.TCPConn); ok {
				_ = tcp.SetLinger(0)
				_ = tcp.Close()
			}
		}
	})
}

func (r *relay) run() {
	p := r.proxy
	defer func() {
		r.reset()
		p.mu.Lock()
		delete(p.relays, r)
		p.mu.Unlock()
	}()
	// To make a connection takes both directions.
	for _, l := range []*link{p.there, p.back} {
		select {
		case <-l.whole():
		case <-r.gone:
			return
		}
	}
	server, err := r.dial()
	if err != nil {
		return
	}
	p.mu.Lock()
	r.server = server
	p.mu.Unlock()
	select {
	case <-r.gone: // it was reset while there was only one half to close
		_ = server.Close()
		return
	default:
	}
	var first []byte
	if p.greeting != nil {
		if first, err = p.greeting(r.client); err != nil {
			return
		}
	}
	var pumps sync.WaitGroup
	pumps.Go(func() { r.pump(p.there, r.client, server, first) })
	pumps.Go(func() { r.pump(p.back, server, r.client, nil) })
	pumps.Wait()
	select {
	case <-r.gone: // the pumps ended for reset, which may not have closed yet, and must be the first to do so
		return
	default:
	}
	// Both ends have said goodbye. Lingering, so that what was said last arrives.
	_ = r.client.Close()
	_ = server.Close()
}

// dial connects to the server. A server that refuses is tried again for a while if the proxy has patience.
func (r *relay) dial() (net.Conn, error) {
	for deadline := time.Now().Add(r.proxy.patience); ; time.Sleep(5 * time.Millisecond) {
		server, err := net.Dial("tcp", r.proxy.target)
		if err == nil || time.Now().After(deadline) {
			return server, err
		}
		select {
		case <-r.gone:
			return nil, err
		default:
		}
	}
}

// chunk is something that was said, and when; nothing at the end.
type chunk struct {
	data []byte
	said time.Time
}

// pump passes on what src says until it ends.
func (r *relay) pump(l *link, src, dst net.Conn, first []byte) {
	queue := make(chan chunk, 256)
	r.proxy.wg.Go(func() { r.listen(src, queue, first) })
	for {
		var c chunk
		select {
		case c = <-queue:
		case <-r.gone:
			return
		}
		if !l.enter(c.said, r.gone) {
			return
		}
		var err error
		if c.data != nil {
			_, err = dst.Write(c.data)
		} else if tcp, ok := dst.(*net.TCPConn); ok {
			err = tcp.CloseWrite()
		}
		l.leave()
		if err != nil {
			r.reset()
		}
		if c.data == nil {
			return
		}
	}
}

// listen puts what src says into queue. If src breaks the connection rather than ending it, so does the relay.
func (r *relay) listen(src net.Conn, queue chan<- chunk, first []byte) {
	put := func(data []byte) bool {
		select {
		case queue <- chunk{data, time.Now()}:
			return true
		case <-r.gone:
			return false
		}
	}
	if len(first) > 0 && !put(first) {
		return
	}
	buf := make([]byte, 32<<10)
	for {
		n, err := src.Read(buf)
		if n > 0 && !put(slices.Clone(buf[:n])) {
			return
		}
		if err == nil {
			continue
		}
		// While the link is cut, the other end must not learn that this one is gone. So a broken connection also
		// travels in the queue; it ends the same way, a little more politely.
		put(nil)
		return
	}
}
