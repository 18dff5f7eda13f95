package simtest

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"net"
	"slices"
	"strings"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/framework/zktest"
	"github.com/gocurator/curator/recipes/locks/lockstest"
	"github.com/gocurator/curator/retry"
)

// A Peer is a client with a network path of its own.
type Peer struct {
	*framework.Client
	name   string
	link   *lockstest.Link // faults
	cable  *zktest.Link    // latency
	mortal bool            // see AddProcess
	since  atomic.Int64    // when its state has changed last, in nanoseconds
	shaken atomic.Int64    // see dropHandshake
	silent atomic.Int64    // until when it is cut off, in nanoseconds
}

// AddPeer makes a client, which Run closes.
func (e *Env) AddPeer(latency time.Duration) {
	e.T.Helper()
	asks := SessionTimeout
	if e.Limited() {
		asks = 3 * SessionTimeout
	}
	p := e.newPeer(string(rune('A'+len(e.Peers))), latency, asks)
	if e.Limited() {
		_ = p.BlockUntilConnected(e.T.Context()) // a server grants it less, before any limit changes
	}
	e.Peers = append(e.Peers, p)
}

// AddProcess is AddPeer for a client that Kill may end. It has no cache beside the recipe.
func (e *Env) AddProcess(latency time.Duration) {
	e.T.Helper()
	e.AddPeer(latency)
	e.Peers[len(e.Peers)-1].mortal = true
}

func (e *Env) newPeer(name string, latency, asks time.Duration) *Peer {
	e.T.Helper()
	servers := strings.Join(e.Ensemble.Addrs(), ",")
	p := &Peer{name: name, cable: e.Ensemble.NewLink()}
	p.cable.SetLatency(latency)
	p.link = lockstest.NewLink(servers, p.dial)
	client, err := framework.NewClient(servers, framework.WithDialer(p.link.DialContext),
		framework.WithSessionTimeout(asks), framework.WithConnectionTimeout(3*time.Second),
		framework.WithRetryPolicy(retry.NTimes(3, 10*time.Millisecond)),
		framework.WithTrace(framework.Trace{OrphanFound: e.Journal.OrphanFound(name)}))
	if err != nil {
		e.T.Fatal(err)
	}
	p.Client = client
	client.OnStateChange(func(framework.StateChange) { p.since.Store(time.Now().UnixNano()) })
	e.Journal.Attach(client, name)
	return p
}

// dropHandshake has the peer connect again by a handshake whose answer is lost, and then cuts it off for a time, which
// nothing shortens.
func (p *Peer) dropHandshake(long time.Duration) {
	p.shaken.Store(int64(long))
	p.link.Reset()
}

func (p *Peer) dial(ctx context.Context, network, address string) (net.Conn, error) {
	now := time.Now().UnixNano()
	if now < p.silent.Load() {
		return nil, syscall.ECONNREFUSED
	}
	conn, err := p.cable.DialContext(ctx, network, address)
	if long := p.shaken.Swap(0); err == nil && long > 0 {
		p.silent.Store(now + long)
		conn = unheard{conn}
	}
	return conn, err
}

// unheard is a connection whose answers are lost.
type unheard struct{ net.Conn }

func (u unheard) Read([]byte) (int, error) {
	_, err := io.Copy(io.Discard, u.Conn)
	return 0, cmp.Or(err, io.EOF)
}

// peers returns those that live.
func (e *Env) peers() []*Peer {
	e.mu.Lock()
	defer e.mu.Unlock()
	return slices.Clone(e.Peers)
}

// Kill ends the process of a peer that AddProcess or Kill has made, as by kill -9: from now on it sends and hears
// nothing, and its sessions are left to the servers. Kill returns the client of its successor, with a path of its own,
// on which the faults of this peer fall from then on.
func (e *Env) Kill(p *Peer, latency time.Duration) (successor *Peer) {
	e.T.Helper()
	p.cable.Cut()
	p.link.Resume() // the goroutines of a client cannot be killed: they end
	_ = p.Close()
	letter, generation := p.name[:1], 1
	_, _ = fmt.Sscan(p.name[1:], &generation)
	successor = e.newPeer(fmt.Sprint(letter, generation+1), latency, SessionTimeout)
	successor.mortal = true
	e.mu.Lock()
	defer e.mu.Unlock()
	e.Peers = slices.Clone(e.Peers) // others read the old one
	e.Peers[slices.Index(e.Peers, p)] = successor
	return successor
}

// Suspend stops a peer's process for its servers, until Resume. See [lockstest.Link.Suspend].
func (p *Peer) Suspend() { p.link.Suspend() }

// Resume undoes Suspend.
func (p *Peer) Resume() { p.link.Resume() }

// Had reports whether the peer has had a session.
func (p *Peer) Had(session int64) bool { return p.link.Password(session) != nil }

// ConnectedSince is when the state of the peer's connection has changed last.
func (p *Peer) ConnectedSince() time.Time { return time.Unix(0, p.since.Load()) }

// Name is that of the peer in the history. A successor has a number behind the letter of its predecessor.
func (p *Peer) Name() string { return p.name }
