//go:build unix

package zookeeper

import "net"

// Carries reports whether a client's connection has been passed on to the server.
func (r *Route) Carries(client net.Conn) bool {
	p := r.Links[0].proxy
	for _, relay := range p.snapshot() {
		if relay.client.RemoteAddr().String() == client.LocalAddr().String() {
			p.mu.Lock()
			defer p.mu.Unlock()
			return relay.server != nil
		}
	}
	return false
}
