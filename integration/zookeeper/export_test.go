//go:build unix

package zookeeper

import "net"

// Carries reports whether a client's connection has been passed on to the server.
func (r *Route) Carries(client net.Conn) bool {
	return r.any(client, func(r *relay) bool { return r.server != nil })
}

// Dooms reports whether a client's connection has come, and will not survive the healing.
func (r *Route) Dooms(client net.Conn) bool {
	return r.any(client, func(r *relay) bool { return r.doomed })
}

func (r *Route) any(client net.Conn, is func(*relay) bool) bool {
	p := r.Links[0].proxy
	for _, relay := range p.snapshot() {
		if relay.client.RemoteAddr().String() == client.LocalAddr().String() {
			p.mu.Lock()
			defer p.mu.Unlock()
			return is(relay)
		}
	}
	return false
}
