package live

import (
	"errors"
	"fmt"
	"slices"

	"github.com/go-zookeeper/zk"

	"github.com/gocurator/curator/framework/internal/transport"
	"github.com/gocurator/curator/framework/session"
)

// IsAnswer reports whether err is the server's answer to the operation. Every other error leaves open whether it was
// executed.
func IsAnswer(err error) bool {
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
			transport.ErrBroken, ErrNotSent, session.ErrSessionLost, zk.ErrConnectionClosed, zk.ErrSessionMoved, zk.ErrSessionExpired,
		}, func(trouble error) bool { return errors.Is(err, trouble) })
	}
}

// ErrNotSent says that a call was not sent for lack of a connection. To users it is a lost connection.
var ErrNotSent = fmt.Errorf("not connected: %w", session.ErrConnectionLost)

// passing reports whether the error is transient: the server may soon answer otherwise.
func passing(err error) bool {
	var code transport.Code
	return errors.As(err, &code) && code.Passing()
}

// disconnects reports that to ask again would end the next connection.
func disconnects(err error) bool {
	var e *session.DisconnectError
	return errors.As(err, &e)
}
