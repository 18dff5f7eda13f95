//go:build unix

package zookeeper

import (
	"fmt"
	"strings"
	"time"
)

// A Member is a server of an ensemble. What a [Server] can do it can do, too, but for Addr and Restart.
type Member struct {
	*Server
	ensemble  *Ensemble
	id        int
	dir       string
	quorum    int
	election  int
	observer  bool
	clientele *proxy
	change    func(*Config) // what RestartWith was given last, or nil
}

// A Route is one client's own way to a server.
type Route struct {
	Links // in both directions
	// ToServer and FromServer are its directions.
	ToServer, FromServer Links
	addr                 string
}

// Addr is the address at which the client reaches the server.
func (r *Route) Addr() string { return r.addr }

// Route makes a way to the server that no other client takes.
func (m *Member) Route() *Route {
	p, err := newProxy(m.Server.Addr())
	if err != nil {
		m.ensemble.t.Errorf("zookeeper: %v", err)
		return nil
	}
	p.start()
	m.ensemble.mu.Lock()
	defer m.ensemble.mu.Unlock()
	m.ensemble.routes = append(m.ensemble.routes, p)
	return &Route{Links: p.links(), ToServer: Links{p.there}, FromServer: Links{p.back}, addr: p.addr()}
}

// ID is the server's number.
func (m *Member) ID() int { return m.id }

// Addr is the address at which all clients reach the server that have no [Member.Route] of their own.
func (m *Member) Addr() string { return m.clientele.addr() }

// Clients returns the links of the clients that came to Addr.
func (m *Member) Clients() Links { return m.clientele.links() }

// Role is what the server says that it is: leader, follower, observer, or standalone. It is empty if the server does
// not serve or does not answer within a second. The question goes past the proxies.
func (m *Member) Role() string {
	answer, err := fourLetter(m.Server.Addr(), "srvr", time.Second)
	if err != nil {
		return ""
	}
	_, mode, _ := strings.Cut(answer, "Mode: ")
	mode, _, _ = strings.Cut(mode, "\n")
	return strings.TrimSpace(mode)
}

// Start starts the server again on its data, if it is not running, and returns at once: it serves when enough others
// do.
func (m *Member) Start() {
	m.mu.Lock()
	defer m.mu.Unlock()
	select {
	case <-m.process.exited:
	default:
		return
	}
	if err := m.spawn(); err != nil {
		m.t.Errorf("zookeeper: start: %v", err)
	}
}

// AwaitServing waits until the server serves, and reports whether it does.
func (m *Member) AwaitServing() bool {
	m.mu.Lock()
	p := m.process
	m.mu.Unlock()
	err := m.awaitServing(p)
	if err != nil {
		fail(m.t, fmt.Errorf("server %d: %w", m.id, err))
	}
	return err == nil
}

// RestartWith is Restart with settings that differ from the ensemble's.
func (m *Member) RestartWith(change func(*Config)) {
	m.ensemble.mu.Lock()
	m.change = change
	err := m.ensemble.configure()
	m.ensemble.mu.Unlock()
	if err != nil {
		m.t.Errorf("zookeeper: restart: %v", err)
	}
	m.Restart()
}

// Restart kills the server, starts it again, and returns when it serves.
func (m *Member) Restart() {
	m.Kill()
	m.Start()
	m.AwaitServing()
}
