package session

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/go-zookeeper/zk"
)

var (
	// ErrClosed says that the client was closed.
	ErrClosed = errors.New("framework: client closed")
	// ErrSessionLost says that the session is over: the server said so, or its timeout has passed without an answer.
	ErrSessionLost = errors.New("framework: session lost")
	// ErrNotRenewed reports that no majority's answer (with WithSyncRenewal, no leader's) confirmed the session in
	// time, so its leases ended. The session itself may still be alive.
	ErrNotRenewed = errors.New("framework: session not renewed in time")
	// ErrSuspended says that the connection was lost, under StandardErrorPolicy.
	ErrSuspended = errors.New("framework: connection suspended")
	// ErrConnectionLost says that the connection broke before the answer: the operation may have been executed.
	ErrConnectionLost = errors.New("connection lost")
	// ErrAuthRefused says that the servers refuse the client's authentication, or require one.
	ErrAuthRefused = errors.New("authentication refused by the server")
	// ErrNoChroot says that the chroot of the connect string does not exist. The operator makes it, no client does.
	ErrNoChroot = errors.New("framework: the chroot of the connect string does not exist")
	// ErrUnsupported says that the server is too old for an operation, or that the feature is switched off.
	ErrUnsupported = errors.New("operation not supported by the server (too old for it, or switched off there)")
	// ErrTooLarge says that a request or an answer is longer than the client's limit, and was not sent or not read.
	// Neither is tried again.
	ErrTooLarge = errors.New("too large")
	// ErrInvalidPath says that ZooKeeper would refuse a path.
	ErrInvalidPath = errors.New("framework: invalid path")
	// ErrNodeDeleted says that a node of a contender is gone although nothing of this process has removed it.
	ErrNodeDeleted = errors.New("node deleted by another client")
)

// A NoAuthError says which permission is missing, and where. It is in the chain of every server's zk.ErrNoAuth.
type NoAuthError struct {
	Op         string // what was refused: "create", "delete", …
	Path       string // the node on which it was refused
	Permission string // the one that is missing: "CREATE", "DELETE", "READ", "WRITE" or "ADMIN"
	Node       string // the node in whose ACL it is missing: the parent of a node that is created or deleted
}

func (e *NoAuthError) Error() string {
	return fmt.Sprintf("no permission to %s %s: the ACL of %s does not give this client %s", e.Op, e.Path, e.Node, e.Permission)
}

// Unwrap makes every NoAuthError a zk.ErrNoAuth.
func (e *NoAuthError) Unwrap() error { return zk.ErrNoAuth }

// A ConnectError says that no server could be reached, and what each did, and unwraps to these reasons. It is
// context.Canceled or context.DeadlineExceeded only if the context of the call ended the wait.
type ConnectError struct {
	Servers map[string]error // the last of each server since the last connection
	Cause   error            // the end of the call's context, or the connection timeout
}

func (e *ConnectError) Error() string {
	servers := make([]string, 0, len(e.Servers))
	for server, err := range e.Servers {
		servers = append(servers, fmt.Sprintf("%s (%s)", server, oneLine(err)))
	}
	slices.Sort(servers)
	return fmt.Sprintf("framework: not connected to %s: %v", strings.Join(servers, ", "), e.Cause)
}

// Unwrap returns the cause and every server's failure.
func (e *ConnectError) Unwrap() []error {
	errs := []error{e.Cause}
	for _, err := range e.Servers {
		errs = append(errs, attemptError{err})
	}
	return errs
}

// An attemptError is the failure of one attempt to connect. It hides the end of the attempt's context, which dialers
// report in many forms, and which must not look like the end of the caller's.
type attemptError struct{ err error }

func (e attemptError) Error() string { return e.err.Error() }

func (e attemptError) Is(target error) bool {
	return target != context.Canceled && target != context.DeadlineExceeded && errors.Is(e.err, target)
}

func (e attemptError) As(target any) bool { return errors.As(e.err, target) }

// A DisconnectError says that servers closed the connection on a request again and again, although they had answered
// others, because they do not know the request or refuse its size. Whether it was executed is not known. A request that
// every ZooKeeper knows, or as long as an answered one, fails so only if connections have ended on it for a session
// timeout.
type DisconnectError struct {
	Request string // "create", "getChildren2", …
	Path    string // the request's path, "" if it has none
	Server  string // the last one
	Times   int    // in a row
	Err     error  // how the last connection ended
}

func (e *DisconnectError) Error() string {
	request := e.Request
	if e.Path != "" {
		request += fmt.Sprintf(" %q", e.Path)
	}
	return fmt.Sprintf("%s closed the connection on %s, for the %dth time in a row and after answers to other requests: "+
		"it does not know the request, or takes none of that size: %v", e.Server, request, e.Times, e.Err)
}

// Unwrap returns how the connection ended.
func (e *DisconnectError) Unwrap() error { return e.Err }

// An ErrorPolicy says which states end leases.
//
// Curator: ConnectionStateErrorPolicy.
type ErrorPolicy int

const (
	// SessionErrorPolicy lets leases outlast a lost connection until their ValidUntil. It is the default.
	//
	// Curator: SessionConnectionStateErrorPolicy.
	SessionErrorPolicy ErrorPolicy = iota
	// StandardErrorPolicy ends leases when the connection is lost, as Curator advises its users to do by hand.
	//
	// Curator: StandardConnectionStateErrorPolicy.
	StandardErrorPolicy
)

// ShouldStartOver reports whether a wait that has ended with err starts again, because the present session may succeed:
// after [ErrSessionLost], [ErrNotRenewed], [ErrSuspended], [ErrNodeDeleted], and an [Outage], if the wait had a
// connection before. A caller that never had one returns the first outage, as the client's Sessions does.
//
// ShouldStartOver is false once ctx has ended, and the caller reports that end. The context of a lost lease ends with
// these errors, and work under it would start again for ever.
func ShouldStartOver(ctx context.Context, err error) bool {
	if err == nil || ctx.Err() != nil {
		return false
	}
	return errors.Is(err, ErrSessionLost) || errors.Is(err, ErrNotRenewed) || errors.Is(err, ErrSuspended) ||
		errors.Is(err, ErrNodeDeleted) || Outage(err)
}

// Outage reports whether err says that no server could be reached: a [*ConnectError]. That goes away by itself, unlike
// [ErrNoChroot] and [ErrAuthRefused], which servers answer.
func Outage(err error) bool {
	var unreachable *ConnectError
	return errors.As(err, &unreachable)
}
