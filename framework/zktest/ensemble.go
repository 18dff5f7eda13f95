package zktest

import (
	"context"
	"fmt"
	"net"
	"time"
)

// Ensemble is several servers that hold the same data: one leads, the others
// follow it, at once or with a lag. It shows what a single server cannot:
// stale reads, sessions that move, a follower that has lost its leader. There
// are no votes: whether there is a leader is for the test to say.
//
// Each Server has its own clients, watches and faults; what concerns sessions
// and data (ExpireSession, Create, Counts …) is common to all. All methods are
// safe for concurrent use.
type Ensemble struct {
	st *store
}

// WithSyncLimit sets how long a follower that is cut off from its leader goes
// on serving its clients (default 5 ticks, a real server's usual setting).
func WithSyncLimit(d time.Duration) Option {
	positive("sync limit", int64(d))
	return func(c *config) { c.syncLimit = d }
}

// NewEnsemble returns n servers, the first of which leads. Like NewServer it
// starts nothing, and works in a testing/synctest bubble. It panics if n < 1.
func NewEnsemble(n int, opts ...Option) *Ensemble {
	if n < 1 {
		panic("zktest: an ensemble without servers")
	}
	st := NewServer(opts...).store
	for range n - 1 {
		st.addServer(newTree(&st.cfg))
	}
	return &Ensemble{st}
}

// Size returns the number of servers.
func (e *Ensemble) Size() int { return len(e.st.servers) }

// Server returns the server number i, from 0.
func (e *Ensemble) Server(i int) *Server { return e.st.servers[i] }

// Leader returns the server that leads.
func (e *Ensemble) Leader() *Server {
	e.st.mu.Lock()
	defer e.st.unlock()
	return e.st.leader
}

// Close ends all servers and waits for them. It always returns nil.
func (e *Ensemble) Close() error { return e.st.servers[0].Close() }

// Addrs returns the addresses by which Dial distinguishes the servers:
// "server0:2181" and so on. Nothing listens there; for TCP ask each server's
// Addr.
func (e *Ensemble) Addrs() []string {
	addrs := make([]string, e.Size())
	for i := range addrs {
		addrs[i] = fmt.Sprintf("server%d:2181", i)
	}
	return addrs
}

// Dial makes an in-memory connection to the server that address names, as
// Server.Dial does.
func (e *Ensemble) Dial(network, address string, timeout time.Duration) (net.Conn, error) {
	return e.NewLink().Dial(network, address, timeout)
}

// DialContext is Dial in the shape of net.Dialer.DialContext.
func (e *Ensemble) DialContext(ctx context.Context, network, address string) (net.Conn, error) {
	return e.NewLink().DialContext(ctx, network, address)
}

// NewLink returns one client's own network path to all the servers.
func (e *Ensemble) NewLink() *Link {
	servers := make(map[string]*Server)
	for i, addr := range e.Addrs() {
		servers[addr] = e.st.servers[i]
	}
	return newLink(func(address string) *Server { return servers[address] })
}

// SetLag sets how much later than the leader server i applies what is
// committed from now on, and so answers its own clients' writes. A sync waits
// until the server has caught up. The leader itself never lags.
func (e *Ensemble) SetLag(i int, lag time.Duration) {
	e.st.mu.Lock()
	defer e.st.unlock()
	e.st.servers[i].replica.lag = max(lag, 0)
}

// Isolate cuts follower i off from the leader. It goes on answering reads and pings of its clients, but the leader no
// longer hears of their sessions; writes, syncs and handshakes hang. After the sync limit it closes its connections and
// serves no client until Rejoin. Isolating the leader, or a server that is isolated already, does nothing.
func (e *Ensemble) Isolate(i int) {
	e.st.mu.Lock()
	defer e.st.unlock()
	s := e.st.servers[i]
	if r := &s.replica; s != e.st.leader && r.cutOff == nil {
		r.cutOff = make(chan struct{})
		r.leaveAt = e.st.elapsed() + e.st.cfg.syncLimit
		e.st.schedule()
	}
}

// Rejoin undoes Isolate: the follower catches up, and what hangs goes on.
func (e *Ensemble) Rejoin(i int) {
	e.st.mu.Lock()
	defer e.st.unlock()
	e.st.servers[i].rejoin()
	e.st.schedule()
}

func (s *Server) rejoin() {
	r := &s.replica
	if r.cutOff == nil {
		return
	}
	close(r.cutOff)
	r.cutOff, r.leaveAt, s.away = nil, 0, false
	now := s.elapsed()
	for i := range r.queue {
		r.queue[i].due = max(r.queue[i].due, now+r.lag)
	}
	s.follow(now)
	if len(r.heard) > 0 {
		s.relayLater()
	}
}

// Elect makes server i the leader, as after the old one's fall: nothing that was committed is lost, all servers close
// their connections, and sessions get their full timeout again. An isolated server rejoins first. If server i leads
// already, connections are closed, and nothing else happens.
func (e *Ensemble) Elect(i int) {
	st := e.st
	st.mu.Lock()
	defer st.unlock()
	for _, s := range st.servers {
		for _, c := range s.sortedConns() {
			c.drop(closeNow, "another server leads")
		}
	}
	old, s := st.leader, st.servers[i]
	if s == old {
		return
	}
	if old.isFrozen() {
		old.unfreeze()
	}
	s.rejoin()
	s.follow(1<<63 - 1)
	old.view, s.view = s.view, old.view
	old.replica = replica{zxid: st.zxid}
	s.replica = replica{}
	st.leader = s
	if s.isFrozen() {
		st.frozenAt = time.Now()
	}
	for _, sess := range st.sessions {
		st.touch(sess)
	}
	st.schedule()
}
