package framework

import (
	"fmt"
	"log/slog"
	"strings"
)

// String names the servers, the chroot and namespace, and the state. It shows no credentials.
func (c *Client) String() string {
	return fmt.Sprintf("client of %s%s (%s)", strings.Join(c.core.servers.known(), ","), c.prefix, c.State())
}

// GoString is String: what a client is made of has credentials in it.
func (c *Client) GoString() string { return c.String() }

// LogValue is for package slog. It shows no credentials.
func (c *Client) LogValue() slog.Value {
	return slog.GroupValue(
		slog.String("servers", strings.Join(c.core.servers.known(), ",")), slog.String("prefix", c.prefix), slog.String("state", c.State().String()))
}
