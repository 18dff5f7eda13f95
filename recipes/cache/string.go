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

// shownData is how much of a node's data String shows.
const shownData = 40

// String names the node and its version, and quotes the beginning of its data.
func (n Node) String() string {
	if n.Stat == nil {
		return fmt.Sprintf("node %q", n.Path)
	}
	return fmt.Sprintf("node %q (version %d, %d bytes: %.*q)", n.Path, n.Stat.Version, len(n.Data), shownData, n.Data)
}

// String is the kind, and the node that the event is about.
func (e Event) String() string {
	if n := e.Node(); n.Path != "" {
		return fmt.Sprintf("%v %v", e.Kind, n)
	}
	return e.Kind.String()
}
