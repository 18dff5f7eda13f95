package framework

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/go-zookeeper/zk"

	"github.com/gocurator/curator/framework/internal/transport"
)

var (
	// ErrClosed says that the client was closed.
	ErrClosed = errors.New("framework: client closed")
	// ErrSessionLost says that the session is over: the server said so, or its timeout has passed without an answer.
	ErrSessionLost = errors.New("framework: session lost")
	// ErrLapsed says that the leader's answers did not prove in time that the session lives, so that leases had to end. The
	// session itself may live on.
	ErrLapsed = errors.New("framework: session not renewed in time")
	// ErrSuspended says that the connection was lost, under StandardErrorPolicy.
	ErrSuspended = errors.New("framework: connection suspended")
	// ErrConnectionLost says that the connection broke before an answer came: the operation may have been executed or not.
	ErrConnectionLost = transport.ErrBroken
	// ErrInvalidPath says that ZooKeeper would refuse a path.
	ErrInvalidPath = errors.New("framework: invalid path")
	// ErrAuthRefused says that the servers do not accept how the client proves who it is, or take SASL clients only.
	ErrAuthRefused = transport.ErrAuth
	// ErrNoChroot says that the chroot of the connect string does not exist.
	ErrNoChroot = errors.New("framework: the chroot of the connect string does not exist")
	// ErrUnsupported says that the server does not know an operation: it is older than 3.5, or the feature is switched off.
	ErrUnsupported = transport.ErrUnsupported
	// ErrTooLarge says that a request is larger than servers take. A server would close the connection, and would do so again
	// at each retry.
	ErrTooLarge = errors.New("framework: request too large")
)

// An OpError is a failed operation: what, where, why. It unwraps to the reason, so that errors.Is finds zk.ErrNoNode,
// context.DeadlineExceeded or [ErrConnectionLost] in it.
type OpError struct {
	Op   string // "create", "delete", …
	Path string // as the caller gave it
	Err  error
}

func (e *OpError) Error() string {
	return fmt.Sprintf("framework: %s %q: %v", e.Op, e.Path, strings.TrimPrefix(e.Err.Error(), "framework: "))
}

// Unwrap returns the reason.
func (e *OpError) Unwrap() error { return e.Err }

// A ConnectError says that no server could be reached, with what each of them did. It unwraps to all reasons.
type ConnectError struct {
	Servers map[string]error // the last failure of each server tried since the last connection
	Cause   error            // what ended the wait: a context's cause, or the connection timeout
}

func (e *ConnectError) Error() string {
	servers := make([]string, 0, len(e.Servers))
	for server, err := range e.Servers {
		servers = append(servers, fmt.Sprintf("%s (%v)", server, err))
	}
	slices.Sort(servers)
	return fmt.Sprintf("framework: not connected to %s: %v", strings.Join(servers, ", "), e.Cause)
}

// Unwrap returns the cause and every server's failure.
func (e *ConnectError) Unwrap() []error {
	errs := []error{e.Cause}
	for _, err := range e.Servers {
		errs = append(errs, err)
	}
	return errs
}

// definite reports whether err is an answer of the server to the operation itself. Every other error leaves open whether it
// was executed.
func definite(err error) bool {
	return slices.ContainsFunc([]error{
		zk.ErrNoNode, zk.ErrNoAuth, zk.ErrBadVersion, zk.ErrNoChildrenForEphemerals, zk.ErrNodeExists, zk.ErrNotEmpty,
		zk.ErrInvalidACL, zk.ErrAuthFailed, zk.ErrBadArguments, transport.ErrUnsupported,
	}, func(answer error) bool { return errors.Is(err, answer) })
}

// retryable reports whether trying again may help: the connection broke, the session ended, or the server was not able to
// answer just then.
func retryable(err error) bool {
	var code transport.Code
	switch {
	case errors.As(err, &code):
		return code.Passing()
	default:
		return slices.ContainsFunc([]error{
			transport.ErrBroken, errDetached, ErrSessionLost, zk.ErrConnectionClosed, zk.ErrSessionMoved, zk.ErrSessionExpired,
		}, func(trouble error) bool { return errors.Is(err, trouble) })
	}
}

// finalError marks a failure that must not be retried although another operation's could be.
type finalError struct{ err error }

func (e *finalError) Error() string { return e.err.Error() }

// errConnectionTimeout is the cause of a ConnectError that no context ended.
var errConnectionTimeout = errors.New("connection timeout")

// errDetached says that a call was not sent, since there is no connection at the moment. To users it is a lost connection.
var errDetached = fmt.Errorf("not connected: %w", ErrConnectionLost)
