package shared

import (
	"fmt"
	"log/slog"

	"github.com/gocurator/curator/framework/session"
)

// String names the node and the newest value that is known here. It is safe while the count changes.
func (c *SharedCount) String() string {
	return fmt.Sprintf("shared count at %q (%d)", c.path, c.Count())
}

// Format is String by every verb.
func (c *SharedCount) Format(f fmt.State, verb rune) { session.FormatText(f, verb, c.String()) }

// LogValue is for package slog.
func (c *SharedCount) LogValue() slog.Value {
	if c == nil {
		return slog.StringValue("<nil>")
	}
	return slog.GroupValue(slog.String("path", c.path), slog.Int("count", int(c.Count())))
}
