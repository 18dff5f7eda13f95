package session_test

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"github.com/go-zookeeper/zk"

	"github.com/gocurator/curator/framework/session"
)

func TestAgainKnowsWhichErrorsEndAWait(t *testing.T) {
	for _, c := range []struct {
		err  error
		want bool
	}{
		{nil, false},
		{session.ErrSessionLost, true},
		{fmt.Errorf("acquire: %w", fmt.Errorf("%w: expired", session.ErrSessionLost)), true},
		{session.ErrNotRenewed, true},
		{session.ErrSuspended, true},
		{session.ErrNodeDeleted, true},
		{errors.Join(errors.New("one part"), session.ErrNodeDeleted), true},
		{&session.ConnectError{Cause: errors.New("connection timeout")}, true},
		{session.ErrClosed, false},
		{session.ErrAuthRefused, false},
		{session.ErrConnectionLost, false},
		{session.ErrTooLarge, false},
		{zk.ErrNoAuth, false},
		{zk.ErrNoNode, false},
		{context.Canceled, false},
		{errors.New("other"), false},
	} {
		if got := session.ShouldStartOver(t.Context(), c.err); got != c.want {
			t.Errorf("ShouldStartOver(%v) = %v, want %v", c.err, got, c.want)
		}
	}
}

func TestNothingGoesOnAfterTheEndOfItsContext(t *testing.T) {
	for _, cause := range []error{context.Canceled, session.ErrSessionLost, fmt.Errorf("lease lost: %w", session.ErrNodeDeleted)} {
		ctx, cancel := context.WithCancelCause(t.Context())
		cancel(cause)
		for _, err := range []error{cause, session.ErrSessionLost, session.ErrNodeDeleted, &session.ConnectError{Cause: cause}} {
			if session.ShouldStartOver(ctx, err) {
				t.Errorf("ShouldStartOver(%v) is true in a context that has ended with %v", err, cause)
			}
		}
	}
}

func TestOutageIsAMissingConnectionAlone(t *testing.T) {
	for _, c := range []struct {
		err  error
		want bool
	}{
		{nil, false},
		{&session.ConnectError{Cause: errors.New("connection timeout")}, true},
		{fmt.Errorf("acquire: %w", &session.ConnectError{Cause: context.Canceled}), true},
		{session.ErrNoChroot, false},
		{session.ErrAuthRefused, false},
		{session.ErrClosed, false},
		{session.ErrSessionLost, false},
		{session.ErrConnectionLost, false},
		{zk.ErrNoAuth, false},
	} {
		if got := session.Outage(c.err); got != c.want {
			t.Errorf("Outage(%v) = %v, want %v", c.err, got, c.want)
		}
	}
}
