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
	// ErrNotRenewed says that leases had to end, since no answer of a majority, or of the leader under WithSyncRenewal,
	// proved in time that the session lives. It may live on.
	ErrNotRenewed = session.ErrNotRenewed
	// ErrSuspended says that the connection was lost, under StandardErrorPolicy.
	ErrSuspended = session.ErrSuspended
	// ErrConnectionLost says that the connection broke before the answer: the operation may have been executed.
	ErrConnectionLost = session.ErrConnectionLost
	// ErrInvalidPath says that ZooKeeper would refuse a path.
	ErrInvalidPath = session.ErrInvalidPath
	// ErrAuthRefused says that the servers refuse the client's authentication, or require one.
	ErrAuthRefused = session.ErrAuthRefused
	// ErrNoChroot says that the chroot of the connect string does not exist.
	ErrNoChroot = session.ErrNoChroot
	// ErrUnsupported says that the server is older than 3.5, or that the feature is switched off.
	ErrUnsupported = session.ErrUnsupported
	// ErrTooLarge says that a request is longer than [WithMaxRequest] allows, and was not sent, or an answer than
	// [WithMaxResponse], and was not read. Neither is tried again.
	ErrTooLarge = session.ErrTooLarge
)

// A ConnectError says that no server could be reached, and what each of them did. See [session.ConnectError].
type ConnectError = session.ConnectError

// A NoAuthError says which permission is missing, and where. It is in the chain of every server's zk.ErrNoAuth.
type NoAuthError = session.NoAuthError

// A DisconnectError says that a server closes the connection on a request again and again, although it answers others.
// A request that servers take, as far as the client knows, fails so only if it has gone on for a session timeout.
type DisconnectError = session.DisconnectError

// An OpError is a failed operation. It unwraps to the reason: zk.ErrNoNode, context.DeadlineExceeded or
// [ErrConnectionLost], for instance.
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

// finalError marks a failure that only this operation must not retry.
type finalError struct{ err error }

func (e *finalError) Error() string { return e.err.Error() }

// errConnectionTimeout is the cause of a ConnectError that no context ended.
var errConnectionTimeout = errors.New("connection timeout")
