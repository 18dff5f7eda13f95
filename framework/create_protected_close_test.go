package framework_test

import (
	"errors"
	"testing"
	"testing/synctest"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/framework/zktest"
)

// The parent's creation is on its way when the session ends: what ended it is the error, not the connection that went with it.
func TestEnterEndsWithTheSessionsErrorWhileItMakesParents(t *testing.T) {
	bubble(t, func(t *testing.T, w *env) {
		s := w.Session()
		release := w.Server.Hold(zktest.Match{Op: zktest.OpCreateContainer, Path: "/locks*"})
		defer release()
		ended := make(chan error, 1)
		go func() {
			_, err := s.CreateProtected(t.Context(), "/locks", "lock-", nil)
			ended <- err
		}()
		synctest.Wait()
		_ = w.Client.Close()
		if err := <-ended; !errors.Is(err, framework.ErrClosed) || errors.Is(err, framework.ErrConnectionLost) {
			t.Errorf("got %v, want ErrClosed alone", err)
		}
	})
}
