package cache

import (
	"fmt"
	"log/slog"

	"github.com/gocurator/curator/framework/session"
)

// String names the root and the number of nodes. It is safe while the cache changes.
func (c *CuratorCache) String() string {
	return fmt.Sprintf("cache of %q (%d nodes)", c.path, c.Len())
}

// Format is String by every verb.
func (c *CuratorCache) Format(f fmt.State, verb rune) { session.Format(f, verb, c) }

// LogValue is String.
func (c *CuratorCache) LogValue() slog.Value { return slog.StringValue(fmt.Sprint(c)) }
