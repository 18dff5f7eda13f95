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
func (c *SharedCount) Format(f fmt.State, verb rune) { session.Format(f, verb, c) }

// LogValue is String.
func (c *SharedCount) LogValue() slog.Value { return slog.StringValue(fmt.Sprint(c)) }
