package framework_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/framework/zktest"
)

// crowded makes a directory whose listing has more than 8 KiB.
func (w *env) crowded() string {
	w.Helper()
	for i := range 1000 {
		if err := w.Server.Create(fmt.Sprintf("/crowd/stranger-%d", i), nil); err != nil {
			w.Fatal(err)
		}
	}
	return "/crowd"
}

func TestAnAnswerThatIsTooLongFailsOnceAndForGood(t *testing.T) {
	bubble(t, func(t *testing.T, w *env) {
		_ = w.Server.Create("/crowd", nil)
		dir := w.crowded()
		_ = w.Server.Create("/long", make([]byte, 9<<10))
		before, began := w.Count(zktest.OpGetChildren2)+w.Count(zktest.OpGetData), time.Now()
		_, _, err := w.Client.Children(t.Context(), dir)
		wantErr(t, err, framework.ErrTooLarge)
		if text := err.Error(); !strings.Contains(text, `children "/crowd"`) || !strings.Contains(text, "this client takes 8192 (WithMaxResponse)") {
			t.Errorf("the error is %q", text)
		}
		_, _, err = w.Client.Get(t.Context(), "/long")
		wantErr(t, err, framework.ErrTooLarge)
		if n := w.Count(zktest.OpGetChildren2) + w.Count(zktest.OpGetData) - before; n != 2 || time.Since(began) > 0 {
			t.Errorf("%d requests in %v", n, time.Since(began))
		}
		w.States.Want(t, framework.StateConnected)
	}, framework.WithMaxResponse(8<<10))
}

func TestAWatchWhoseAnswerIsTooLongIsRefused(t *testing.T) {
	bubble(t, func(t *testing.T, w *env) {
		_ = w.Server.Create("/crowd", nil)
		dir := w.crowded()
		s := w.Session()
		sub := s.WatchChildren(dir, func() {})
		time.Sleep(time.Minute)
		if view := sub.View(); view.Status != framework.StatusFailed || !errors.Is(view.Err, framework.ErrTooLarge) {
			t.Errorf("got %+v", view)
		}
		if n := w.Count(zktest.OpGetChildren2); n != 1 || w.Server.WatchCount() != 0 {
			t.Errorf("%d listings, %d watches at the server", n, w.Server.WatchCount())
		}
		sub.Stop()
		w.States.Want(t, framework.StateConnected)
	}, framework.WithMaxResponse(8<<10))
}

func TestANodeWithLongDataIsWatchedForItsExistence(t *testing.T) {
	bubble(t, func(t *testing.T, w *env) {
		_ = w.Server.Create("/long", make([]byte, 9<<10))
		s := w.Session()
		sub := s.WatchData("/long", func() {})
		synctest.Wait()
		if view := sub.View(); view.Status != framework.StatusPresent || !view.Current || view.Data != nil {
			t.Errorf("got %+v", view)
		}
		must(t, w.Client.Delete(t.Context(), "/long", -1))
		synctest.Wait()
		if view := sub.View(); view.Status != framework.StatusGone {
			t.Errorf("after its deletion: %+v", view)
		}
		sub.Stop()
	}, framework.WithMaxResponse(8<<10))
}

func TestARequestThatIsTooLongIsNotSent(t *testing.T) {
	bubble(t, func(t *testing.T, w *env) {
		_, _, err := w.Client.Create(t.Context(), "/a", make([]byte, 4048)) // and 49 bytes beside the data
		wantErr(t, err, framework.ErrTooLarge)
		if !strings.Contains(err.Error(), "WithMaxRequest") || w.Count(zktest.OpCreate2) != 0 {
			t.Errorf("%v, %d requests", err, w.Count(zktest.OpCreate2))
		}
		if _, _, err := w.Client.Create(t.Context(), "/a", make([]byte, 4047)); err != nil {
			t.Error(err)
		}
	}, framework.WithMaxRequest(4096))
}

func TestSizesThatMakeNoSenseAreRefused(t *testing.T) {
	_, err := framework.NewClient("zk:2181", framework.WithMaxResponse(100), framework.WithMaxRequest(-1))
	if err == nil || !strings.Contains(err.Error(), "longest answer") || !strings.Contains(err.Error(), "longest request") {
		t.Errorf("got %v", err)
	}
}

// A flood of events costs one read, not one for each.
func TestEventsBeforeTheAnswerOfTheNewLookAreAnsweredByIt(t *testing.T) {
	bubble(t, func(t *testing.T, w *env) {
		_ = w.Server.Create("/busy", nil)
		s := w.Session()
		sub := s.WatchData("/busy", func() {})
		synctest.Wait()
		w.Link.SetLatency(100 * time.Millisecond)
		before := w.Count(zktest.OpGetData)
		for range 1000 {
			must(t, w.Server.SetData("/busy", nil))
			time.Sleep(time.Millisecond)
		}
		time.Sleep(time.Second)
		if n := w.Count(zktest.OpGetData) - before; n < 2 || n > 6 {
			t.Errorf("%d reads in a second with a round trip of 200 ms", n)
		}
		if view := sub.View(); view.Status != framework.StatusPresent || view.Stat.Version != 1000 {
			t.Errorf("the last change was missed: %+v", view)
		}
		sub.Stop()
	})
}
