package session

import (
	"context"
	"errors"
)

// Again reports whether a wait that has ended with err goes on, from its beginning: what it had is gone, and the same
// work in the present session may succeed. It is the one place that knows which errors these are: [ErrSessionLost],
// [ErrLapsed], [ErrSuspended], [ErrNodeVanished], and a [*ConnectError], which a wait that had a connection before
// outlasts. A caller that never had one returns the first ConnectError instead, as the client's Sessions does.
//
// Again is false once ctx has ended, whatever err is, and the caller reports the end of ctx. The context of a lost
// lease ends with the very errors above: work under it that went on would begin anew for ever.
func Again(ctx context.Context, err error) bool {
	if err == nil || ctx.Err() != nil {
		return false
	}
	var unreachable *ConnectError
	return errors.Is(err, ErrSessionLost) || errors.Is(err, ErrLapsed) || errors.Is(err, ErrSuspended) ||
		errors.Is(err, ErrNodeVanished) || errors.As(err, &unreachable)
}
