package session

import (
	"time"

	"github.com/go-zookeeper/zk"
)

// A Watch on a node is set again after every change and reconnection, until its session ends. All watches on a node
// share one at the server, which is removed with the last. It is safe for concurrent use.
type Watch interface {
	// View returns what is known now. It does not block.
	View() View
	// ReadAgain reads the node and sets the server's watch again, in case that has lost an event. It does not block:
	// View returns what was read before, still Current, until the answer, which calls wake. It does nothing while a
	// request is under way, before a deferred watch is set, and without a connection.
	ReadAgain()
	// Stop ends the watch. wake is not called from then on, but may be running. To stop it again does nothing.
	//
	// A watch that is set on the node a moment later is not removed with it.
	Stop()
}

// A WatchedNode is a node for WatchDataSince.
type WatchedNode struct {
	Path string
	Wake func() // not nil
	// Readable says that this client may read the node. Otherwise the node is read, because servers do not report the
	// end of one that it may not read.
	Readable bool
	// Doubtful says that Readable is a conclusion from other nodes. The node is read within an eighth of a session
	// timeout. If that is refused, or shows a lost event, the client reads each node that it watches.
	Doubtful bool
	// Optional says that the node is not watched if that would take a read. Its Watch is then nil.
	Optional bool
}

// A Status is what is known of a watched node.
type Status int

// What is known of a watched node.
const (
	StatusUnknown Status = iota // until the server has answered, and from a lost connection to the next answer
	StatusPresent               // the node exists, and the server will report its next change
	StatusGone                  // it was deleted, or missing when the watch was set
	StatusFailed                // the server refuses the watch; View.Err is the reason
)

// A View is what is known of a watched node. Its slices must not be changed.
type View struct {
	Status Status
	// Current says that the server will report the node's next change, and has reported none since the last read, so
	// the node exists as far as the client has heard.
	Current bool
	// Own says that the node belongs to this session: it is ephemeral, and goes with it.
	Own      bool
	Stat     *zk.Stat // nil for WatchDataSince until the node is read
	Data     []byte   // for WatchData; nil if the node may not be read
	Children []string // for WatchChildren
	Err      error
	Read     time.Time // when the request for this answer was sent
	Pending  time.Time // when ReadAgain's pending request was sent; zero without one
}
