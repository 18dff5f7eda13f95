package queue

import (
	"context"
	"iter"
	"time"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/recipes/internal/steps"
)

// A Source is what a queue needs of its client.
type Source interface {
	// Sessions yields the connected session, and the next one after its end.
	Sessions(ctx context.Context) iter.Seq2[framework.Session, error]
	steps.Source
	// ConnectionTimeout bounds the wait for a removal.
	ConnectionTimeout() time.Duration
}

// A Config says what a queue is.
type Config struct {
	Source Source
	Lock   any             // comparable: queues with equal ones are one lock
	Dir    string          // absolute path
	Marker string          // the marker of the queue's own nodes
	Counts map[string]bool // markers of all that count: whether shared
	Data   []byte          // nil: the client's default

	// LeaveMessage as a node's data asks its holder to leave, unless empty.
	LeaveMessage string

	Events

	// Foreign, unless it is nil, says why a directory with these children is not the queue's. It must not block.
	Foreign func(children []string) error
}

// Events are what a recipe hears of its contenders and grants. They must not block. All but Ended may be nil.
type Events struct {
	// Ended makes the error of a grant's end from ErrReleased or the reason of a loss. It runs under a lock, and must
	// do nothing else.
	Ended func(g *Grant, cause error) error
	// Waiting is called when a contender begins to wait or moves up.
	Waiting func(ctx context.Context, at Progress)
	// LongWait is called after a wait of a session timeout, and each time that it has doubled.
	LongWait func(ctx context.Context, at Progress, waited time.Duration, first bool)
	// Asked is called once, when holders are asked to leave.
	Asked func(g *Grant)
	// Lost is called after a loss. ended is when the grant ended, which may be long before.
	Lost func(g *Grant, ended time.Time, err error)
}
