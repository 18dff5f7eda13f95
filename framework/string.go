package framework

import (
	"fmt"
	"log/slog"
	"strings"

	"github.com/gocurator/curator/framework/session"
)

// String names the servers, chroot and namespace, the state, and the server and session of the connection, without
// credentials.
func (c *Client) String() string {
	if c.core == nil {
		return "client that NewClient did not make"
	}
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

// whereabouts are each empty if there is none.
func (c *Client) whereabouts() (server, session string) {
	c.core.mu.Lock()
	s := c.core.session.Session()
	c.core.mu.Unlock()
	if id := s.ID(); id != 0 {
		session = fmt.Sprintf("%#x", id)
	}
	return s.Server(), session
}

// Format is String by every verb, also of a copy.
func (c Client) Format(f fmt.State, verb rune) { session.FormatText(f, verb, c.String()) }

// LogValue is for package slog. It shows no credentials.
func (c *Client) LogValue() slog.Value {
	if c == nil || c.core == nil {
		return slog.StringValue(fmt.Sprint(c))
	}
	server, session := c.whereabouts()
	return slog.GroupValue(
		slog.String("servers", strings.Join(c.core.servers.known(), ",")), slog.String("prefix", c.prefix),
		slog.String("state", c.State().String()), slog.String("server", server), slog.String("session", session))
}
