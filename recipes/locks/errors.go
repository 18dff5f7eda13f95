package locks

import (
	"errors"
	"fmt"
	"strings"

	"github.com/gocurator/curator/framework/session"
	"github.com/gocurator/curator/recipes/internal/queue"
)

var (
	// ErrNotAcquired says that another contender holds the lock or is ahead: of a try, or [Within] a time limit.
	ErrNotAcquired = queue.ErrTaken
	// ErrLeaseLost says that a lease has ended without its Release, by a [*LostError].
	ErrLeaseLost = errors.New("locks: lease lost")
	// ErrReleased says that a lease was released. Its contexts end with this cause.
	ErrReleased = errors.New("locks: lease released")
	// ErrCounterExhausted says that the counter of a lock's directory is near its end, 2³¹-1. The client asks for no
	// further number for a minute, so that the server can remove the directory, an empty container, and its counter.
	// Holders and waiters go on. Once unused, a directory made by hand must be removed by hand.
	ErrCounterExhausted = queue.ErrCounterExhausted
	// ErrRemoved is the reason of a lease that ended because its node was deleted.
	ErrRemoved = queue.ErrRemoved
)

// A LostError says that a lease ended without its release. It is [ErrLeaseLost], and unwraps to the reason:
// [ErrRemoved], framework.ErrNotRenewed, framework.ErrSuspended, framework.ErrSessionLost or framework.ErrClosed.
type LostError struct {
	Path    string
	Node    string // the lease's
	Session int64
	Reason  error
}

func (e *LostError) Error() string {
	return fmt.Sprintf("locks: lease on %q lost: %s (node %s, session %#x)", e.Path, bare(e.Reason), e.Node, e.Session)
}

// Is makes every LostError an [ErrLeaseLost].
func (e *LostError) Is(target error) bool { return target == ErrLeaseLost }

func (e *LostError) Unwrap() error { return e.Reason }

// Explain says why the lease was lost, by what its client saw: the process did not run, no server was reached, the node
// was removed, and so on. Leases that ended together share the answer. It does not block; the first call takes some
// microseconds. After the removal of a node the client knows by the next answer of a server whether the whole session
// has ended, see session.NodeLoss. Trace's Lost waits for that.
//
// Curator has none.
func (e *LostError) Explain() session.Explanation { return session.Explain(e.Reason) }

// An AcquireError says why a lock was not acquired, and where the caller stood. It unwraps to the reason: see
// [InterProcessMutex.Acquire].
type AcquireError struct {
	Path        string
	Node        string // the caller's, if it had one
	Predecessor string // the nearest node ahead, when last seen; empty without a wait
	Ahead       int    // nodes ahead; without a node, contenders of its process, see RetainedLock
	OwnClient   bool   // Predecessor is of the same client
	// OwnLease says that the caller waited for a lease that its client holds, or of a semaphore for leases that its
	// client all holds. A caller that holds it deadlocked: it did not pass the lease's context to Acquire, or the lock
	// is not reentrant. A try never sets it.
	OwnLease bool
	Err      error
}

func (e *AcquireError) Error() string {
	var where string
	if e.Ahead > 0 {
		where = fmt.Sprintf("waiting behind %d", e.Ahead)
		if e.Predecessor != "" {
			where += ", nearest " + e.Predecessor
		}
		where += ": "
	}
	switch {
	case e.OwnLease && e.Node != "" && e.Predecessor == "":
		where += "this client holds all leases ahead, and this lock is not reentrant: "
	case e.OwnLease:
		where += "this client holds the predecessor; if the caller does, pass lease.Context(ctx) to Acquire: "
	}
	return fmt.Sprintf("locks: acquire %q: %s%s", e.Path, where, bare(e.Err))
}

func (e *AcquireError) Unwrap() error { return e.Err }

// A ReleaseError says that a lease has ended here, but its node may still exist. The removal goes on in the background
// until it is done or the session is over, after pauses if a server has refused it.
type ReleaseError struct {
	Path string
	Node string // the lease's
	Err  error
}

func (e *ReleaseError) Error() string {
	return fmt.Sprintf("locks: release %q: removal of node %s: %s", e.Path, e.Node, bare(e.Err))
}

func (e *ReleaseError) Unwrap() error { return e.Err }

func bare(err error) string {
	text := fmt.Sprint(err) // nil in an error that a program made
	for _, prefix := range []string{"locks: ", "framework: "} {
		text = strings.TrimPrefix(text, prefix)
	}
	return text
}
