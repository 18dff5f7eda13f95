package locks

import (
	"errors"
	"fmt"
	"strings"
)

var (
	// ErrNotAcquired is TryAcquire's answer when somebody else holds the lock or stands before the caller.
	ErrNotAcquired = errors.New("locks: not acquired")
	// ErrLeaseLost says that a lease has ended without its Release. The error is a [*LostError], with the reason.
	ErrLeaseLost = errors.New("locks: lease lost")
	// ErrReleased says that a lease was released. It is the cause with which contexts of the lease end then.
	ErrReleased = errors.New("locks: lease released")
	// ErrNoMoreNumbers says that the counter of a lock's directory has come to its end, 2³¹-1, where ZooKeeper since 3.8 stays: it
	// cannot be told any more who came first. The directory goes away, and its counter with it, when all have left it for a while.
	ErrNoMoreNumbers = errors.New("locks: the directory's counter is used up; it starts anew when the directory has been left alone")
	// ErrRemoved is the reason of a lease that ended because somebody deleted its node.
	ErrRemoved = errors.New("locks: node removed by hand")
)

// A LostError is the end of a lease that was not released. It is [ErrLeaseLost], and unwraps to the reason: [ErrRemoved],
// framework.ErrLapsed, framework.ErrSuspended, framework.ErrSessionLost or framework.ErrClosed.
type LostError struct {
	Path    string // of the lock
	Session int64
	Reason  error
}

func (e *LostError) Error() string {
	return fmt.Sprintf("locks: lease on %q lost: %s", e.Path, bare(e.Reason))
}

// Is makes every LostError an [ErrLeaseLost].
func (e *LostError) Is(target error) bool { return target == ErrLeaseLost }

// Unwrap returns the reason.
func (e *LostError) Unwrap() error { return e.Reason }

// An AcquireError says why a lock was not acquired, and where the caller stood. It unwraps to the reason: ctx's cause,
// [ErrNotAcquired], [ErrLeaseLost], [ErrReleased], an error of package framework or the server's answer.
type AcquireError struct {
	Path   string // of the lock
	Node   string // the name of the caller's node, if it had one
	Ahead  string // the name of the last node before it that stood in its way, if it waited
	Behind int    // how many stood before it; in its own process if it had no node, see WithLocalHandover
	// OwnClient says that the next one before it is a lease or a wait of the same client. If it is the caller's own lease, the
	// context of that lease was not handed to Acquire.
	OwnClient bool
	Err       error
}

func (e *AcquireError) Error() string {
	var where string
	if e.Behind > 0 {
		where = fmt.Sprintf("waiting behind %d: ", e.Behind)
	}
	if e.OwnClient {
		where += "the next one belongs to this client, was its Lease.Context passed on?: "
	}
	return fmt.Sprintf("locks: acquire %q: %s%s", e.Path, where, bare(e.Err))
}

// Unwrap returns the reason.
func (e *AcquireError) Unwrap() error { return e.Err }

// A ReleaseError says that a lease has ended for this process, but that its node is not known to be gone. If the server
// did not refuse, it is removed in the background, until that is done or the session is over.
type ReleaseError struct {
	Path string // of the lock
	Node string // the name of the lease's node
	Err  error
}

func (e *ReleaseError) Error() string {
	return fmt.Sprintf("locks: release %q: removal of node %s: %s", e.Path, e.Node, bare(e.Err))
}

// Unwrap returns the reason.
func (e *ReleaseError) Unwrap() error { return e.Err }

// errUnconfirmed is the reason of a ReleaseError without an answer.
var errUnconfirmed = errors.New("no answer within the connection timeout, it goes on in the background")

// errRequeue lets a contender enter again: its node was removed by hand.
var errRequeue = errors.New("node vanished")

// bare leaves out the package's name, which the outer error has said.
func bare(err error) string {
	text := err.Error()
	for _, prefix := range []string{"locks: ", "framework: "} {
		text = strings.TrimPrefix(text, prefix)
	}
	return text
}
