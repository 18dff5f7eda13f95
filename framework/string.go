package framework

import (
	"fmt"
	"log/slog"
	"strings"
)

// String names the servers, the chroot and namespace, the state, the server that the client is connected to, and its
// session, if it has one. It shows no credentials.
func (c *Client) String() string {
	text := fmt.Sprintf("client of %s%s (%s", strings.Join(c.core.servers.known(), ","), c.prefix, c.State())
	server, session := c.whereabouts()
	if server != "" {
		text += ", server " + server
	}
	if session != "" {
		text += ", session " + session
	}
	return text + ")"
}

// whereabouts are the server that the client is connected to and the number of its session, each empty if there is
// none.
func (c *Client) whereabouts() (server, session string) {
	c.core.mu.Lock()
	s := c.core.session.Session()
	c.core.mu.Unlock()
	if id := s.ID(); id != 0 {
		session = fmt.Sprintf("%#x", id)
	}
	return s.Server(), session
}

// GoString is String: what a client is made of has credentials in it.
func (c *Client) GoString() string { return c.String() }

// LogValue is for package slog. It shows no credentials.
func (c *Client) LogValue() slog.Value {
	server, session := c.whereabouts()
	return slog.GroupValue(
		slog.String("servers", strings.Join(c.core.servers.known(), ",")), slog.String("prefix", c.prefix),
		slog.String("state", c.State().String()), slog.String("server", server), slog.String("session", session))
}
