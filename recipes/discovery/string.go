package discovery

import (
	"fmt"
	"log/slog"

	"github.com/gocurator/curator/framework/session"
)

// String names the instance's node, and says whether it is there. It is safe while that changes.
func (r *Registration) String() string { return fmt.Sprintf("registration by %v", r.node) }

// Format is String by every verb.
func (r *Registration) Format(f fmt.State, verb rune) { session.Format(f, verb, r) }

// LogValue is String.
func (r *Registration) LogValue() slog.Value { return slog.StringValue(fmt.Sprint(r)) }

// String names the service's node. It is safe while the cache changes.
func (c *ServiceCache) String() string { return fmt.Sprintf("service cache of %q", c.path) }

// Format is String by every verb.
func (c *ServiceCache) Format(f fmt.State, verb rune) { session.Format(f, verb, c) }

// LogValue is String.
func (c *ServiceCache) LogValue() slog.Value { return slog.StringValue(fmt.Sprint(c)) }
