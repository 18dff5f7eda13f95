package run

import (
	"errors"
	"fmt"
	"testing"

	"github.com/go-zookeeper/zk"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/recipes/locks"
)

func TestExitCodesTellFailuresApart(t *testing.T) {
	for _, c := range []struct {
		err  error
		want int
	}{
		{nil, 0},
		{&locks.AcquireError{Err: locks.ErrNotAcquired}, 75},
		{&framework.ConnectError{}, 69},
		{framework.ErrConnectionLost, 69},
		{framework.ErrSessionLost, 69},
		{fmt.Errorf("x: %w", framework.ErrAuthRefused), 77},
		{fmt.Errorf("x: %w", zk.ErrNoAuth), 77},
		{locks.ErrOtherRecipe, 78},
		{framework.ErrNoChroot, 78},
		{errors.New("else"), 70},
	} {
		if got := ExitCode(c.err); got != c.want {
			t.Errorf("%v: got %d, want %d", c.err, got, c.want)
		}
	}
}
