package session

import (
	"context"
	"errors"
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
