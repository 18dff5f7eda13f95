package nodes

import (
	"fmt"
	"log/slog"

	"github.com/gocurator/curator/framework/session"
)

// String names the node, and says whether it is there. It is safe while that changes.
func (n *PersistentNode) String() string {
	return fmt.Sprintf("persistent node %q (there: %t)", n.path, n.There())
}

// Format is String by every verb.
func (n *PersistentNode) Format(f fmt.State, verb rune) { session.Format(f, verb, n) }

// LogValue is String.
func (n *PersistentNode) LogValue() slog.Value { return slog.StringValue(fmt.Sprint(n)) }
