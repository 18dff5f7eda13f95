package framework_test

import (
	"testing"
	"time"

	"github.com/gocurator/curator/framework"
)

// Shortly before the end of an idle session's validity the guard's next look would come too late.
func TestAHoldThatBeginsLateIsRenewed(t *testing.T) {
	bubble(t, func(t *testing.T, w *world) {
		w.create("/a", framework.WithMode(framework.Ephemeral))
		s := w.session()
		time.Sleep(time.Until(s.ValidUntil()) - session/10)
		h := w.hold()
		time.Sleep(session)
		if err := h.Err(); err != nil {
			t.Error(err)
		}
	})
}

func TestAWatchAloneKeepsTheSessionValid(t *testing.T) {
	bubble(t, func(t *testing.T, w *world) {
		w.make("/a")
		s := w.session()
		time.Sleep(session / 2)
		watch := s.WatchData("/a", func() {})
		defer s.Unwatch(watch)
		time.Sleep(session * 2 / 5)
		if left := time.Until(s.ValidUntil()); left < session/2-slack {
			t.Errorf("it is valid for %v more", left)
		}
	})
}
