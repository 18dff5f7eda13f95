package live

import (
	"fmt"
	"time"

	"github.com/go-zookeeper/zk"

	"github.com/gocurator/curator/framework/internal/watches"
)

// A Status is what is known of a watched node.
type Status int

const (
	// StatusUnknown lasts until the server has answered, and from a lost connection to the next answer.
	StatusUnknown = Status(watches.Unknown)
	// StatusPresent says that the node exists, and that the server will report its next change.
	StatusPresent = Status(watches.Present)
	// StatusGone says that the node was deleted, or missing when the watch was set.
	StatusGone = Status(watches.Gone)
	// StatusRefused says that the server refuses the watch. View.Err is the reason.
	StatusRefused = Status(watches.Refused)
)

// A View is what is known of a watched node. Its slices must not be changed.
type View struct {
	Status Status
	// Armed says that the server will report the node's next change, and has reported none since the last read: by all
	// that has arrived on the connection, the node exists.
	Armed bool
	// Own says that the node belongs to this session: it is ephemeral, and goes with it.
	Own      bool
	Stat     *zk.Stat
	Data     []byte   // of WatchData; nil if the node may not be read
	Children []string // of WatchChildren
	Err      error
	Read     time.Time // when the request for this answer was sent
	Again    time.Time // when ReadAgain's pending request was sent; zero without one
}

// A Watch is on a node until its session ends: it is set again after every change and reconnection. All watches on a
// node share one at the server, which is removed with the last.
type Watch struct {
	subscription watches.Subscription

	// Of a persistent watch on children, which is set again when the node exists again. Guarded by the session's mutex.
	wake     func()                // nil for other watches
	creation *watches.Subscription // to the missing node, whose children cannot be watched
}

// String names the node.
func (w *Watch) String() string {
	key, ok := w.subscription.Key()
	if !ok {
		return "watch on nothing"
	}
	return fmt.Sprintf("watch on %q", key.Path)
}

// Format is String by every verb.
func (w *Watch) Format(f fmt.State, verb rune) { FormatText(f, verb, w.String()) }
