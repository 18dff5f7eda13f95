package nodes

import (
	"fmt"
	"log/slog"

	"github.com/gocurator/curator/framework/session"
)

// String names the node, and says whether it is there. It is safe while that changes.
func (n *PersistentNode) String() string {
	n.mu.Lock()
	defer n.mu.Unlock()
	is := "not there"
	if n.state.there {
		is = "there"
	}
	return fmt.Sprintf("persistent node %q (%s)", n.path, is)
}

// Format is String by every verb.
func (n *PersistentNode) Format(f fmt.State, verb rune) { session.FormatText(f, verb, n.String()) }

// LogValue is for package slog.
func (n *PersistentNode) LogValue() slog.Value {
	if n == nil {
		return slog.StringValue("<nil>")
	}
	return slog.GroupValue(slog.String("path", n.path), slog.Bool("there", n.There()))
}
