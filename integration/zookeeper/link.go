//go:build unix

package zookeeper

import (
	"errors"
	"io"
	"net"
	"slices"
	"sync"
	"time"
)

// Links are directed links between two ends: what one end says goes over one of them, what the other says over another.
// They are proxies on loopback, so that whatever can happen to a network can happen to them. The methods change all of
// them, the connections there are and those to come, and return when the change is in force. They are safe for
// concurrent use.
type Links []*link

// Cut silences the links: nothing arrives any more, and neither side hears of it. New connections seem to be made and
// are as silent. [Links.Heal] resets what was connected meanwhile: an outage longer than TCP's patience.
func (ls Links) Cut() { ls.stop(true) }

// Freeze holds back what is said until [Links.Heal], which lets it arrive: an outage that TCP survives. Connections
// that are begun meanwhile are reset by Heal, as after Cut.
func (ls Links) Freeze() { ls.stop(false) }

func (ls Links) stop(doomed bool) {
	for _, l := range ls {
		l.mu.Lock()
		if l.passing {
			l.passing = false
			l.open = make(chan struct{})
		}
		l.mu.Unlock()
		if doomed {
			l.proxy.doom()
		}
	}
	for _, l := range ls {
		l.settle()
	}
}

// Delay has everything that is said from now on arrive so much later.
func (ls Links) Delay(d time.Duration) {
	for _, l := range ls {
		l.mu.Lock()
		l.delay = d
		l.mu.Unlock()
	}
}

// Reset breaks the connections that there are, and tells both ends. New ones can be made.
func (ls Links) Reset() {
	for _, p := range ls.proxies() {
		p.reset(func(*relay) bool { return true })
	}
}

// Heal makes the links whole again: no silence, no delay.
func (ls Links) Heal() {
	for _, p := range ls.proxies() {
		p.reset(func(r *relay) bool { return r.doomed })
	}
	for _, l := range ls {
		l.mu.Lock()
		l.delay = 0
		if !l.passing {
			l.passing = true
			close(l.open)
		}
		l.mu.Unlock()
	}
}

func (ls Links) proxies() []*proxy {
	var all []*proxy
	for _, l := range ls {
		if !slices.Contains(all, l.proxy) {
			all = append(all, l.proxy)
		}
	}
	return all
}

// A link is one direction of a proxy.
type link struct {
	proxy *proxy

	mu      sync.Mutex
	passing bool
	open    chan struct{} // closed while passing
	delay   time.Duration
	writing int // how many are just passing something on
}

func newLink(p *proxy) *link {
	l := &link{proxy: p, passing: true, open: make(chan struct{})}
	close(l.open)
	return l
}

// enter blocks until what was said at that time may pass. Each enter needs a leave.
func (l *link) enter(said time.Time, gone <-chan struct{}) bool {
	for {
		l.mu.Lock()
		wait := time.Until(said.Add(l.delay))
		open := l.open
		if l.passing && wait <= 0 {
			l.writing++
			l.mu.Unlock()
			return true
		}
		passing := l.passing
		l.mu.Unlock()
		if passing {
			open = nil // only the time is missing
		}
		timer := time.NewTimer(max(wait, 0))
		if !passing {
			timer.Stop()
		}
		select {
		case <-open:
		case <-timer.C:
		case <-gone:
			timer.Stop()
			return false
		}
		timer.Stop()
	}
}

func (l *link) leave() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.writing--
}

// settle waits until nothing is being passed on. Only a receiver that takes nothing can make that long: then nothing
// arrives.
func (l *link) settle() {
	for range 100 {
		l.mu.Lock()
		idle := l.writing == 0
		l.mu.Unlock()
		if idle {
			return
		}
		time.Sleep(time.Millisecond)
	}
}

// whole returns a channel that is closed while the link passes on.
func (l *link) whole() <-chan struct{} {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.open
}

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

func (l *link) passes() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.passing
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
		// While the link is cut nobody at the other end may learn that this one is gone, so a broken connection also
		// travels in the queue; it ends the same way, a little more politely.
		put(nil)
		return
	}
}
