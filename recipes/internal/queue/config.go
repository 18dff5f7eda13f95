package queue

import (
	"context"
	"iter"
	"time"

	"github.com/gocurator/curator/framework"
)

// A Source is what a queue needs of a client. Queues with one source belong to one client.
type Source interface {
	// Sessions yields the connected session, and the next one when that has ended. See framework.Client.
	Sessions(ctx context.Context) iter.Seq2[*framework.Session, error]
	// Attach returns the value that hangs on the client by key, and makes it if there is none.
	Attach(key any, create func() any) any
	// ConnectionTimeout is how long a removal is waited for.
	ConnectionTimeout() time.Duration
}

// A Config says what a queue is, and what its recipe wants to hear of.
type Config struct {
	Source Source
	Lock   any             // comparable; what it is equal to for two queues is one lock
	Dir    string          // absolute path of the directory
	Marker string          // in the names of the queue's own nodes
	Counts map[string]bool // the markers of nodes that count, of others as well: whether they are shared
	Data   []byte          // of the nodes; nil: the client's default data

	// LeaveMessage in a node's data asks its holder to leave; empty: nothing does.
	LeaveMessage string
	// Ended makes of the cause of a grant's end, ErrReleased or the reason of a loss, the error that its holders see. It is
	// called under a lock when the error is asked for, and must do nothing else.
	Ended func(g *Grant, cause error) error

	// The rest may be nil. None of them may block.

	// Foreign says why a directory with these children does not belong to the queue.
	Foreign func(children []string) error
	// Waiting is called when a contender begins to wait, and when it has moved up.
	Waiting func(ctx context.Context, at Progress)
	// Late is called when a contender has waited for as long as its session timeout, once, with where it stood when it looked last.
	Late func(ctx context.Context, at Progress, waited time.Duration)
	// Asked is called when holders of a grant are asked to leave, once.
	Asked func(g *Grant)
	// Lost is called when a grant has ended otherwise than by its release, after so long.
	Lost func(g *Grant, lasted time.Duration, err error)
}
