package framework

import (
	"errors"
	"fmt"
	"strings"

	"github.com/gocurator/curator/framework/session"
)

var (
	// ErrClosed says that the client was closed.
	ErrClosed = session.ErrClosed
	// ErrSessionLost says that the session is over: the server said so, or its timeout has passed without an answer.
	ErrSessionLost = session.ErrSessionLost
	// ErrLapsed says that no answer proved in time that the session lives, so that leases had to end: an answer of a
	// majority, or, with WithLeaderRenewal, of the leader. The session itself may live on.
	ErrLapsed = session.ErrLapsed
	// ErrSuspended says that the connection was lost, under StandardErrorPolicy.
	ErrSuspended = session.ErrSuspended
	// ErrConnectionLost says that the connection broke before an answer came: the operation may have been executed or
	// not.
	ErrConnectionLost = session.ErrConnectionLost
	// ErrInvalidPath says that ZooKeeper would refuse a path.
	ErrInvalidPath = errors.New("framework: invalid path")
	// ErrAuthRefused says that the servers do not accept how the client proves who it is, or take SASL clients only.
	ErrAuthRefused = session.ErrAuthRefused
	// ErrNoChroot says that the chroot of the connect string does not exist.
	ErrNoChroot = session.ErrNoChroot
	// ErrUnsupported says that the server does not know an operation: it is older than 3.5, or the feature is switched
	// off.
	ErrUnsupported = session.ErrUnsupported
	// ErrTooLarge says that a request is longer than [WithMaxRequest] allows, and was not sent, or that an answer is
	// longer than [WithMaxAnswer] allows, and was not read. Neither is tried again: it would be as long the next time.
	ErrTooLarge = session.ErrTooLarge
)

// A ConnectError says that no server could be reached, and what each of them did. See [session.ConnectError].
type ConnectError = session.ConnectError

// A NoAuthError says which permission is missing, and on which node. It is in the chain of every zk.ErrNoAuth of a
// server.
type NoAuthError = session.NoAuthError

// A HangUpError says that a server closes the connection on a request again and again, although it answers others.
type HangUpError = session.HangUpError

// An OpError is a failed operation: what, where, why. It unwraps to the reason, so that errors.Is finds zk.ErrNoNode,
// context.DeadlineExceeded or [ErrConnectionLost] in it.
type OpError struct {
	Op   string // "create", "delete", …
	Path string // as the caller gave it; the scheme of an authorization
	Err  error
}

func (e *OpError) Error() string {
	return fmt.Sprintf("framework: %s %q: %v", e.Op, e.Path, strings.TrimPrefix(e.Err.Error(), "framework: "))
}

// Unwrap returns the reason.
func (e *OpError) Unwrap() error { return e.Err }

// finalError marks a failure that must not be retried although another operation's could be.
type finalError struct{ err error }

func (e *finalError) Error() string { return e.err.Error() }

// errConnectionTimeout is the cause of a ConnectError that no context ended.
var errConnectionTimeout = errors.New("connection timeout")
