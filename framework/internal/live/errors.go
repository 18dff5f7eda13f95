package live

import (
	"context"
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
	// ErrLapsed says that leases had to end, since no answer of a majority, or of the leader under WithLeaderRenewal,
	// proved in time that the session lives. It may live on.
	ErrLapsed = errors.New("framework: session not renewed in time")
	// ErrSuspended says that the connection was lost, under StandardErrorPolicy.
	ErrSuspended = errors.New("framework: connection suspended")
	// ErrConnectionLost says that the connection broke before the answer: the operation may have been executed.
	ErrConnectionLost = transport.ErrBroken
	// ErrAuthRefused says that the servers refuse the client's authentication, or take SASL clients only.
	ErrAuthRefused = transport.ErrAuth
	// ErrNoChroot says that the chroot of the connect string does not exist.
	ErrNoChroot = errors.New("framework: the chroot of the connect string does not exist")
	// ErrUnsupported says that the server is too old for an operation, or that the feature is switched off.
	ErrUnsupported = transport.ErrUnsupported
	// ErrTooLarge says that a request is longer than the client's limit, and was not sent, or an answer, and was not
	// read. Neither is tried again.
	ErrTooLarge = transport.ErrTooLarge
	// ErrNodeVanished says that a node of a contender is gone although nothing of this process has removed it.
	ErrNodeVanished = errors.New("node vanished")
)

// A NoAuthError says which permission is missing, and where. It is in the chain of every server's zk.ErrNoAuth.
type NoAuthError = transport.NoAuthError

// A ConnectError says that no server could be reached, and what each did. It unwraps to all of these reasons. It is
// context.Canceled or context.DeadlineExceeded only if the context of the call ended the wait, not an attempt's.
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

// An attemptError is the failure of one attempt to connect. It hides the end of the attempt's own context, which
// dialers report in many forms: it must not look like the end of the caller's.
type attemptError struct{ err error }

func (e attemptError) Error() string { return e.err.Error() }

func (e attemptError) Is(target error) bool {
	return target != context.Canceled && target != context.DeadlineExceeded && errors.Is(e.err, target)
}

func (e attemptError) As(target any) bool { return errors.As(e.err, target) }

// A HangUpError says that a server closes the connection on a request again and again, although it answers others. A
// request that servers take, as far as the client knows, fails so only if it has gone on for a session timeout.
type HangUpError = transport.HangUpError

// Definite reports whether err is the server's answer to the operation. Every other error leaves open whether it was
// executed.
func Definite(err error) bool {
	return slices.ContainsFunc([]error{
		zk.ErrNoNode, zk.ErrNoAuth, zk.ErrBadVersion, zk.ErrNoChildrenForEphemerals, zk.ErrNodeExists, zk.ErrNotEmpty,
		zk.ErrInvalidACL, zk.ErrAuthFailed, zk.ErrBadArguments, transport.ErrUnsupported, transport.ErrTooLarge,
	}, func(answer error) bool { return errors.Is(err, answer) })
}

// Retryable reports whether trying again may help: the connection broke, the session ended, or the server could not
// answer just then.
func Retryable(err error) bool {
	var code transport.Code
	switch {
	case errors.As(err, &code):
		return code.Passing()
	default:
		return slices.ContainsFunc([]error{
			transport.ErrBroken, ErrDetached, ErrSessionLost, zk.ErrConnectionClosed, zk.ErrSessionMoved, zk.ErrSessionExpired,
		}, func(trouble error) bool { return errors.Is(err, trouble) })
	}
}

// ErrDetached says that a call was not sent for lack of a connection. To users it is a lost connection.
var ErrDetached = fmt.Errorf("not connected: %w", ErrConnectionLost)

// passing reports whether the server may soon answer otherwise.
func passing(err error) bool {
	var code transport.Code
	return errors.As(err, &code) && code.Passing()
}

// hungUp reports that to ask again would end the next connection.
func hungUp(err error) bool {
	var e *HangUpError
	return errors.As(err, &e)
}

// An ErrorPolicy says which states end leases.
//
// Curator: ConnectionStateErrorPolicy.
type ErrorPolicy int

const (
	// SessionErrorPolicy lets leases outlast a lost connection until their ValidUntil. It is the default.
	//
	// Curator: SessionConnectionStateErrorPolicy.
	SessionErrorPolicy ErrorPolicy = iota
	// StandardErrorPolicy ends leases when the connection is lost, as Curator tells its users to do by hand.
	//
	// Curator: StandardConnectionStateErrorPolicy.
	StandardErrorPolicy
)

// Again reports whether a wait that has ended with err begins anew: what it had is gone, and the present session may
// give it again. It alone knows these errors: [ErrSessionLost], [ErrLapsed], [ErrSuspended], [ErrNodeVanished], and an
// [Outage], which a wait outlasts that had a connection before. A caller that never had one returns the first outage
// instead, as the client's Sessions does.
//
// Again is false once ctx has ended, and the caller reports that end. The context of a lost lease ends with the very
// errors above: work under it would begin anew for ever.
func Again(ctx context.Context, err error) bool {
	if err == nil || ctx.Err() != nil {
		return false
	}
	return errors.Is(err, ErrSessionLost) || errors.Is(err, ErrLapsed) || errors.Is(err, ErrSuspended) ||
		errors.Is(err, ErrNodeVanished) || Outage(err)
}

// Outage reports whether err says that no server could be reached: a [*ConnectError]. That goes away by itself, unlike
// [ErrNoChroot] and [ErrAuthRefused], which servers answer.
func Outage(err error) bool {
	var unreachable *ConnectError
	return errors.As(err, &unreachable)
}
