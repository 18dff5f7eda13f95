package live_test

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"github.com/go-zookeeper/zk"

	"github.com/gocurator/curator/framework/internal/live"
)

func TestAgainKnowsWhichErrorsEndAWait(t *testing.T) {
	for _, c := range []struct {
		err  error
		want bool
	}{
		{nil, false},
		{live.ErrSessionLost, true},
		{fmt.Errorf("acquire: %w", fmt.Errorf("%w: expired", live.ErrSessionLost)), true},
		{live.ErrLapsed, true},
		{live.ErrSuspended, true},
		{live.ErrNodeVanished, true},
		{errors.Join(errors.New("one part"), live.ErrNodeVanished), true},
		{&live.ConnectError{Cause: errors.New("connection timeout")}, true},
		{live.ErrClosed, false},
		{live.ErrAuthRefused, false},
		{live.ErrConnectionLost, false},
		{live.ErrTooLarge, false},
		{zk.ErrNoAuth, false},
		{zk.ErrNoNode, false},
		{context.Canceled, false},
		{errors.New("other"), false},
	} {
		if got := live.Again(t.Context(), c.err); got != c.want {
			t.Errorf("Again(%v) = %v, want %v", c.err, got, c.want)
		}
	}
}

func TestNothingGoesOnAfterTheEndOfItsContext(t *testing.T) {
	for _, cause := range []error{context.Canceled, live.ErrSessionLost, fmt.Errorf("lease lost: %w", live.ErrNodeVanished)} {
		ctx, cancel := context.WithCancelCause(t.Context())
		cancel(cause)
		for _, err := range []error{cause, live.ErrSessionLost, live.ErrNodeVanished, &live.ConnectError{Cause: cause}} {
			if live.Again(ctx, err) {
				t.Errorf("Again(%v) is true in a context that has ended with %v", err, cause)
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
		{&live.ConnectError{Cause: errors.New("connection timeout")}, true},
		{fmt.Errorf("acquire: %w", &live.ConnectError{Cause: context.Canceled}), true},
		{live.ErrNoChroot, false},
		{live.ErrAuthRefused, false},
		{live.ErrClosed, false},
		{live.ErrSessionLost, false},
		{live.ErrConnectionLost, false},
		{zk.ErrNoAuth, false},
	} {
		if got := live.Outage(c.err); got != c.want {
			t.Errorf("Outage(%v) = %v, want %v", c.err, got, c.want)
		}
	}
}
