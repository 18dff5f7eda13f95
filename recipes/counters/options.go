package counters

import (
	"errors"
	"fmt"
	"strings"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/framework/session"
	"github.com/gocurator/curator/recipes/internal/setup"
	"github.com/gocurator/curator/recipes/locks"
)

var (
	// ErrUnknown says that it is not known whether a call has changed the number. The answer was lost, or ctx ended
	// before it came, and the node does not show what became of the write; or the node was deleted and created again
	// during the call. The call has not counted twice, and will not. The error unwraps to the reason as well, such as
	// framework.ErrConnectionLost or context.Canceled.
	//
	// Curator has none: there the write is sent again, and counts twice.
	ErrUnknown = errors.New("counters: not known whether it has counted")
	// ErrNotACounter says that the node's data are not empty and have another length than the counter's. Set replaces
	// them.
	//
	// Curator: RuntimeException, "Corrupted data"; data that are too long pass there.
	ErrNotACounter = errors.New("counters: not a counter")
)

// An Option is one of a counter's constructor.
type Option func(*options)

type options struct{ lock *string } // nil without a lock

// WithLock has writers that lose often queue on an InterProcessMutex at path: an Add that has lost three races acquires
// it, and tries again until it has counted. The lock is a queue, and not what keeps the number right. Writers that have
// not lost pass it, and so do those without this option; an Add that loses its lease acquires the lock again if it
// loses a race after that.
//
// path must not be the counter's, nor below it, and belongs to the lock alone.
//
// Curator: PromotedToLock.
func WithLock(path string) Option { return func(o *options) { o.lock = &path } }

// newCounter is for constructors. What is wrong with their arguments is the error of each call.
func newCounter[T number](client *framework.Client, path string, opts []Option) counter[T] {
	c := counter[T]{client: client, path: path}
	problems := setup.Problems{session.ValidatePath(path)}
	problems.Refuse(path == "/", "the root is no counter")
	problems.Refuse(client == nil, "client is nil")
	var o options
	setup.Apply(&problems, &o, opts)
	if o.lock != nil {
		problems = append(problems, lockProblem(path, *o.lock))
		c.mutex = locks.NewInterProcessMutex(client, *o.lock)
	}
	if err := session.JoinErrors(problems...); err != nil {
		c.err = fmt.Errorf("counters: counter at %q: %w", path, err)
	}
	return c
}

// lockProblem says what is wrong with the path of a lock. A lock makes its path as a container, which servers remove
// when it is empty: below a counter that was deleted, it would make a counter that does not last.
func lockProblem(path, lock string) error {
	if err := session.ValidatePath(lock); err != nil {
		return fmt.Errorf("lock: %w", err)
	}
	if lock == path || strings.HasPrefix(lock, path+"/") {
		return fmt.Errorf("the path of the lock, %q, is the counter's or below it", lock)
	}
	return nil
}
