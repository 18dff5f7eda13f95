package shared

import (
	"fmt"
	"log/slog"
)

// String names the node and the newest value that is known here. It is safe while the count changes.
func (c *SharedCount) String() string {
	return fmt.Sprintf("shared count at %q (%d)", c.path, c.Count())
}

// GoString is String.
func (c *SharedCount) GoString() string { return c.String() }

// LogValue is for package slog.
func (c *SharedCount) LogValue() slog.Value {
	return slog.GroupValue(slog.String("path", c.path), slog.Int("count", int(c.Count())))
}
