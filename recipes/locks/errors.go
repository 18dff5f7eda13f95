package locks

import (
	"errors"
	"fmt"
	"strings"

	"github.com/gocurator/curator/recipes/internal/queue"
)

var (
	// ErrNotAcquired says that another contender holds the lock or is ahead: of a try, or of a lock [Within] a time
	// limit that has passed.
	ErrNotAcquired = queue.ErrTaken
	// ErrLeaseLost says that a lease has ended without its Release. The error is a [*LostError].
	ErrLeaseLost = errors.New("locks: lease lost")
	// ErrReleased says that a lease was released. It is the cause with which its contexts end.
	ErrReleased = errors.New("locks: lease released")
	// ErrNoMoreNumbers says that the counter of a lock's directory is near its end, 2³¹-1, beyond which numbers tell no
	// order. For a minute the client asks for no further number, so that the server can remove the directory, an empty
	// container, and its counter. Holders and waiters are not affected. A directory that was made by hand must be
	// removed by hand, once nobody uses it.
	ErrNoMoreNumbers = queue.ErrNoMoreNumbers
	// ErrRemoved is the reason of a lease that ended because its node was deleted.
	ErrRemoved = queue.ErrRemoved
)

// A LostError is the end of a lease that was not released. It is [ErrLeaseLost], and unwraps to the reason:
// [ErrRemoved], framework.ErrLapsed, framework.ErrSuspended, framework.ErrSessionLost or framework.ErrClosed.
type LostError struct {
	Path    string
	Node    string // the name of the lease's node
	Session int64
	Reason  error
}

func (e *LostError) Error() string {
	return fmt.Sprintf("locks: lease on %q lost: %s (node %s, session %#x)", e.Path, bare(e.Reason), e.Node, e.Session)
}

// Is makes every LostError an [ErrLeaseLost].
func (e *LostError) Is(target error) bool { return target == ErrLeaseLost }

// Unwrap returns the reason.
func (e *LostError) Unwrap() error { return e.Reason }

// An AcquireError says why a lock was not acquired, and where the caller stood. It unwraps to the reason: ctx's cause,
// [ErrNotAcquired], [ErrLeaseLost], [ErrReleased], an error of package framework or the server's answer.
type AcquireError struct {
	Path        string
	Node        string // the caller's, if it had one
	Predecessor string // the nearest node ahead, when it last looked; empty if it did not wait
	Ahead       int    // how many nodes were ahead; contenders of its process if it had no node, see Retain
	// OwnClient says that Predecessor is of the same client.
	OwnClient bool
	// OwnLease says that the caller waited for a lease that the same client holds; of a semaphore, that it holds all.
	// If the lease is the caller's own, it deadlocked: it did not pass the context of that lease to Acquire, or the
	// lock is not reentrant. It is never set by a try.
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

// Unwrap returns the reason.
func (e *AcquireError) Unwrap() error { return e.Err }

// A ReleaseError says that a lease has ended for this process, but that its node may still exist. Unless the server
// refused, the removal goes on in the background, until it is done or the session is over.
type ReleaseError struct {
	Path string
	Node string // the lease's
	Err  error
}

func (e *ReleaseError) Error() string {
	return fmt.Sprintf("locks: release %q: removal of node %s: %s", e.Path, e.Node, bare(e.Err))
}

// Unwrap returns the reason.
func (e *ReleaseError) Unwrap() error { return e.Err }

// bare leaves out the package's name, which the outer error says.
func bare(err error) string {
	text := err.Error()
	for _, prefix := range []string{"locks: ", "framework: "} {
		text = strings.TrimPrefix(text, prefix)
	}
	return text
}
