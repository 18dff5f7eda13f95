package locks_test

import (
	"context"
	"fmt"
	"testing"

	"github.com/gocurator/curator/framework/zktest"
	"github.com/gocurator/curator/recipes/locks"
)

func TestDoRefusesNilBeforeItAcquires(t *testing.T) {
	inBubble(t, func(t *testing.T, server *zktest.Server) {
		p := newPeer(t, server)
		nothing := func(context.Context) error { return nil }
		for want, do := range map[string]func() error{
			`locks: Do: the function is nil`: func() error { return locks.Do(t.Context(), p.mutex(), nil) },
			`locks: Do: the lock is nil`:     func() error { return locks.Do(t.Context(), nil, nothing) },
		} {
			if err := panicOf(do); err == nil || err.Error() != want {
				t.Errorf("got %v, want %s", err, want)
			}
		}
		if n := server.Counts()[zktest.OpCreate2] + server.Counts()[zktest.OpCreateContainer]; n > 0 || server.Exists(path) {
			t.Errorf("got %d creates and a node: %t, want none", n, server.Exists(path))
		}
	})
}

// panicOf is do, with a panic as its error.
func panicOf(do func() error) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("panic: %v", p)
		}
	}()
	return do()
}
