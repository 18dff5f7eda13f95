package session_test

import (
	"testing"
	"time"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/framework/zktest"
)

func TestAWatchThatAnOverloadedServerDoesNotTakeOffIsTakenOffLater(t *testing.T) {
	atEach(t, func(t *testing.T, w *env) {
		w.Make("/t")
		for name, set := range map[string]func() (stop func()){
			"data":     func() func() { return w.watchData("/t").stop },
			"children": func() func() { return w.watchChildren("/t").stop },
			"tree":     func() func() { l := w.watchTree("/t"); return func() { w.Session().UnwatchTree("/t", l) } },
		} {
			stop := set()
			for i := range 3 {
				w.Server.Throttle(zktest.Match{Op: zktest.OpRemoveWatches, Nth: i + 1})
			}
			stop()
			time.Sleep(time.Minute)
			if got := w.Server.WatchCount(); got != 0 {
				t.Errorf("%s: the server has %d watches, want none", name, got)
			}
		}
		if n := w.Server.Connections(); n != 1 {
			t.Errorf("got %d connections, want the first one alone", n)
		}
	})
}

func TestAWatchThatIsWantedAgainIsNotTakenOffLater(t *testing.T) {
	atEach(t, func(t *testing.T, w *env) {
		w.Make("/t")
		for i := range 4 {
			w.Server.Throttle(zktest.Match{Op: zktest.OpRemoveWatches, Nth: i + 1})
		}
		data, tree := w.watchData("/t"), w.watchTree("/u")
		data.stop()
		w.Session().UnwatchTree("/u", tree)
		data, tree = w.watchData("/t"), w.watchTree("/u")
		tree.want(t, "watching")
		time.Sleep(time.Minute)
		w.wantWatches(2)
		w.change("/t")
		w.Make("/u")
		tree.want(t, "+/u")
		if got := data.view(); got.Status != framework.StatusPresent || got.Stat.Version != 1 {
			t.Errorf("got view %+v, want version 1", got)
		}
	})
}
