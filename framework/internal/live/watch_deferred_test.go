package live_test

import (
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/framework/zktest"
)

func TestAWatchThatIsPutOffCostsNothingIfItEndsBefore(t *testing.T) {
	bubble(t, func(t *testing.T, w *env) {
		w.Make("/a")
		s := w.Session()
		for range 4 {
			o := s.WatchDataDeferred("/a", func() { t.Error("got a wake of an ended watch, want none") })
			time.Sleep(10 * time.Millisecond)
			o.Stop()
		}
		time.Sleep(time.Second)
		if n := w.Count(zktest.OpGetData) + w.Count(zktest.OpRemoveWatches); n != 0 {
			t.Errorf("%d requests", n)
		}
	})
}

func TestAWatchThatIsPutOffIsSetInAMoment(t *testing.T) {
	bubble(t, func(t *testing.T, w *env) {
		w.Make("/a")
		s := w.Session()
		wakes := 0
		o := s.WatchDataDeferred("/a", func() { wakes++ })
		w.wantWatches(0)
		time.Sleep(60 * time.Millisecond)
		w.wantWatches(1)
		must(t, w.Server.Delete("/a"))
		synctest.Wait()
		if got := o.View(); got.Status != framework.StatusGone || wakes != 2 {
			t.Errorf("%+v after %d wakes", got, wakes)
		}
		o.Stop()
		w.wantWatches(0)
	})
}

func TestAWatchThatIsPutOffDoesNotWaitForThoseThatBeginLater(t *testing.T) {
	bubble(t, func(t *testing.T, w *env) {
		w.Make("/a")
		s := w.Session()
		o := s.WatchDataDeferred("/a", func() {})
		for i := range 3 {
			time.Sleep(20 * time.Millisecond)
			s.WatchDataDeferred(fmt.Sprintf("/later%d", i), func() {})
		}
		synctest.Wait()
		if got := o.View(); got.Status != framework.StatusPresent {
			t.Errorf("got view %+v after 60 ms, want the node", got)
		}
	})
}

func TestASubscriberThatCannotWaitSetsTheWatchForAll(t *testing.T) {
	bubble(t, func(t *testing.T, w *env) {
		w.Make("/a")
		s := w.Session()
		patient := s.WatchDataDeferred("/a", func() {})
		hasty := w.watchData("/a")
		hasty.want(t, framework.StatusPresent)
		if patient.View().Status != framework.StatusPresent {
			t.Errorf("got status %v of the deferred watch, want %v", patient.View().Status, framework.StatusPresent)
		}
		time.Sleep(time.Second)
		if n := w.Count(zktest.OpGetData); n != 1 {
			t.Errorf("%d requests", n)
		}
		hasty.stop()
		w.wantWatches(1)
		patient.Stop()
		w.wantWatches(0)
	})
}

func TestAWatchThatIsPutOffOverAReconnectionIsSetOnce(t *testing.T) {
	bubble(t, func(t *testing.T, w *env) {
		w.Make("/a")
		s := w.Session()
		o := s.WatchDataDeferred("/a", func() {})
		w.Link.Reset()
		w.Eventually("reconnected", func() bool { return w.Client.State() == framework.StateReconnected })
		time.Sleep(time.Second)
		w.wantWatches(1)
		if n := w.Count(zktest.OpGetData); n != 1 {
			t.Errorf("%d requests", n)
		}
		o.Stop()
		w.wantWatches(0)
	})
}
