package zktest

import (
	"context"
	"net"
	"os"
	"sync"
	"sync/atomic"
	"syscall"
	"time"
)

// memAddr is the address of an end of an in-memory connection.
type memAddr string

func (a memAddr) Network() string { return "memory" }
func (a memAddr) String() string  { return string(a) }

// Link is one client's own network path to the server; what is done to it harms no other client. All methods are safe
// for concurrent use and return at once, except that a dial takes one round trip of the latency.
type Link struct {
	pick  func(address string) *Server
	delay atomic.Int64

	mu     sync.Mutex
	muted  bool
	cut    bool
	pipes  map[*pipeConn]struct{} // the client ends
	meters []*meter               // for new connections
}

// NewLink returns a healthy link without latency.
func (s *Server) NewLink() *Link {
	return newLink(func(string) *Server { return s })
}

func newLink(pick func(address string) *Server) *Link {
	return &Link{pick: pick, pipes: make(map[*pipeConn]struct{})}
}

// Dial makes an in-memory connection to the server, whatever the address; it
// has the shape of go-zookeeper's Dialer. The connection buffers without
// limit, so that a Write never waits for the reader, and each Write arrives
// as one segment. It fails with ECONNREFUSED if the server is closed or
// refuses connections.
func (s *Server) Dial(network, address string, timeout time.Duration) (net.Conn, error) {
	return s.NewLink().Dial(network, address, timeout)
}

// DialContext is Dial in the shape of net.Dialer.DialContext.
func (s *Server) DialContext(ctx context.Context, network, address string) (net.Conn, error) {
	return s.NewLink().DialContext(ctx, network, address)
}

// Dial is like Server.Dial, over this link. It takes one round trip of the
// link's latency, at most timeout if that is positive.
func (l *Link) Dial(network, address string, timeout time.Duration) (net.Conn, error) {
	ctx := context.Background() //nolint:forbidigo // the shape of this method has no ctx
	if timeout > 0 && 2*l.delay.Load() > int64(timeout) {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, timeout)
		defer cancel()
	}
	return l.DialContext(ctx, network, address)
}

// DialContext is Dial in the shape of net.Dialer.DialContext.
func (l *Link) DialContext(ctx context.Context, _, address string) (net.Conn, error) {
	remote := memAddr(address)
	fail := func(err error) (net.Conn, error) {
		return nil, &net.OpError{Op: "dial", Net: remote.Network(), Addr: remote, Err: err}
	}
	if err := l.roundTrip(ctx); err != nil {
		return fail(err)
	}
	srv := l.pick(address)
	if srv == nil {
		return fail(syscall.EHOSTUNREACH)
	}
	client, server := newPipe(&l.delay, memAddr("client"), remote)
	if !l.admit(client) {
		return fail(syscall.ECONNREFUSED)
	}
	client.closed = func() {
		for _, m := range client.meters {
			m.closed()
		}
		l.forget(client)
	}
	if !srv.take(server, "127.0.0.1") {
		l.forget(client)
		return fail(syscall.ECONNREFUSED)
	}
	return client, nil
}

func (l *Link) roundTrip(ctx context.Context) error {
	if d := 2 * time.Duration(l.delay.Load()); d > 0 && ctx.Err() == nil {
		timer := time.NewTimer(d)
		defer timer.Stop()
		select {
		case <-timer.C:
		case <-ctx.Done():
		}
	}
	if err := ctx.Err(); err == context.DeadlineExceeded {
		return os.ErrDeadlineExceeded
	} else if err != nil {
		return err
	}
	return nil
}

// admit takes a new connection in, mute if the link is, unless it is cut.
func (l *Link) admit(client *pipeConn) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.cut {
		return false
	}
	if l.muted {
		client.mute()
	}
	for _, m := range l.meters {
		client.meters = append(client.meters, &pipeMeter{meter: m})
	}
	l.pipes[client] = struct{}{}
	return true
}

func (l *Link) forget(client *pipeConn) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if !l.muted { // else the server has not heard of it, and will when the link heals
		delete(l.pipes, client)
	}
}

// SetLatency sets the delay of each direction for what is sent from now on.
// Nothing overtakes what was sent before.
func (l *Link) SetLatency(d time.Duration) { l.delay.Store(int64(max(d, 0))) }

// Mute makes the link swallow everything in both directions, also what is under way, and neither end notices. New
// connections can be made, but nothing comes of them.
func (l *Link) Mute() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.muted = true
	for c := range l.pipes {
		c.mute()
	}
}

// Cut resets the present connections and refuses new ones.
func (l *Link) Cut() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.cut = true
	l.reset()
}

// Reset resets the present connections; new ones can be made.
func (l *Link) Reset() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.reset()
}

// Heal undoes Mute and Cut. Connections that were mute are reset: what was
// swallowed is lost, so they can never be in order again.
func (l *Link) Heal() {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.muted {
		l.reset()
	}
	l.muted, l.cut = false, false
}

func (l *Link) reset() {
	for c := range l.pipes {
		c.breakOff()
	}
	clear(l.pipes)
}
