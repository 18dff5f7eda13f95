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
	// Attach returns the value that hangs on the client by key, made at the first call.
	Attach(key any, create func() any) any
	// ConnectionTimeout bounds the wait for a removal.
	ConnectionTimeout() time.Duration
}

// A Config says what a queue is, and what its recipe wants to hear of.
type Config struct {
	Source Source
	Lock   any             // comparable: queues with equal ones are one lock
	Dir    string          // absolute path
	Marker string          // of the queue's own nodes
	Counts map[string]bool // the markers of all nodes that count: whether they are shared
	Data   []byte          // of the nodes; nil: the client's default data

	// LeaveMessage in a node's data asks its holder to leave; empty: nothing does.
	LeaveMessage string
	// Ended makes the error that holders see of the cause of a grant's end: ErrReleased, or the reason of a loss. It
	// runs under a lock, and must do nothing else.
	Ended func(g *Grant, cause error) error

	// The rest may be nil, and must not block.

	// Foreign says why a directory with these children does not belong to the queue.
	Foreign func(children []string) error
	// Waiting is called when a contender begins to wait, and when it has moved up.
	Waiting func(ctx context.Context, at Progress)
	// Late is called once, when a contender has waited for its session timeout, with where it stood last.
	Late func(ctx context.Context, at Progress, waited time.Duration)
	// Asked is called once, when the holders of a grant are asked to leave.
	Asked func(g *Grant)
	// Lost is called when a grant was lost.
	Lost func(g *Grant, lasted time.Duration, err error)
}
