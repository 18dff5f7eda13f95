package discovery

import (
	"fmt"
	"log/slog"

	"github.com/gocurator/curator/framework/session"
)

// String names the instance's node, and says whether it is there. It is safe while that changes.
func (r *Registration) String() string { return fmt.Sprintf("registration by %v", r.node) }

// Format is String by every verb.
func (r *Registration) Format(f fmt.State, verb rune) { session.FormatText(f, verb, r.String()) }

// LogValue is for package slog.
func (r *Registration) LogValue() slog.Value {
	if r == nil {
		return slog.StringValue("<nil>")
	}
	return r.node.LogValue()
}

// String names the service's node. It is safe while the cache changes.
func (c *ServiceCache) String() string { return fmt.Sprintf("service cache of %q", c.path) }

// Format is String by every verb.
func (c *ServiceCache) Format(f fmt.State, verb rune) { session.FormatText(f, verb, c.String()) }

// LogValue is for package slog.
func (c *ServiceCache) LogValue() slog.Value {
	if c == nil {
		return slog.StringValue("<nil>")
	}
	return c.nodes.LogValue()
}
