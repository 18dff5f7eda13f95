package live_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/framework/zktest"
)

func TestAWatchThatAnOverloadedServerDoesNotTakeOffIsTakenOffLater(t *testing.T) {
	atEach(t, func(t *testing.T, w *env) {
		w.Make("/t")
		newest := 0
		defer w.Server.Observe(func(r zktest.Request) {
			if r.Op == zktest.OpRemoveWatches { // a question has a connection of its own
				newest = max(newest, r.Conn)
			}
		})()
		for name, set := range map[string]func() (stop func()){
			"data":     func() func() { return w.watchData("/t").stop },
			"children": func() func() { return w.watchChildren("/t").stop },
			"tree":     func() func() { l := w.watchTree("/t"); return func() { w.Session().UnwatchTree("/t", l) } },
		} {
			stop := set()
			for i := range 3 {
				w.Server.ThrottleRequest(zktest.Match{Op: zktest.OpRemoveWatches, Nth: i + 1})
			}
			stop()
			time.Sleep(time.Minute)
			if got := w.Server.WatchCount(); got != 0 {
				t.Errorf("%s: the server has %d watches, want none", name, got)
			}
		}
		if newest != 1 {
			t.Errorf("got removals on connection %d, want the first one alone", newest)
		}
	})
}

// An overloaded server is not asked as fast as it can refuse.
func TestAnOverloadedServerIsAskedForAWatchAfterGrowingPauses(t *testing.T) {
	bubble(t, func(t *testing.T, w *env) {
		w.Make("/t")
		for i := range 1000 {
			w.Server.ThrottleRequest(zktest.Match{Op: zktest.OpGetData, Nth: i + 1})
		}
		before := w.Server.Counts()[zktest.OpGetData]
		defer w.watchData("/t").stop()
		time.Sleep(20 * time.Second)
		// Nine in the first second or two, then one each half second to second.
		if got := w.Server.Counts()[zktest.OpGetData] - before; got < 15 || got > 60 {
			t.Errorf("got %d requests in 20 s, want 20 to 50", got)
		}
	})
}

// The pause grows with each round, not with each of its refusals.
func TestManyRefusedWatchesAreAskedForAgainAsOftenAsOne(t *testing.T) {
	bubble(t, func(t *testing.T, w *env) {
		for i := range 1000 {
			w.Server.ThrottleRequest(zktest.Match{Op: zktest.OpGetData, Nth: i + 1})
		}
		count := w.Server.CountRequests(zktest.Match{Op: zktest.OpGetData, Path: "/t0"})
		for i := range 20 {
			w.Make(fmt.Sprintf("/t%d", i))
			w.watchData(fmt.Sprintf("/t%d", i))
		}
		time.Sleep(2 * time.Second)
		if got := count(); got < 8 {
			t.Errorf("got %d requests for one of 20 watches in 2 s, want at least 8", got)
		}
	})
}

func TestAWatchThatIsWantedAgainIsNotTakenOffLater(t *testing.T) {
	atEach(t, func(t *testing.T, w *env) {
		w.Make("/t")
		for i := range 4 {
			w.Server.ThrottleRequest(zktest.Match{Op: zktest.OpRemoveWatches, Nth: i + 1})
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

// The removal is asked for again when the tree's watch covers the node, and so is left to the end of that.
func TestAThrottledRemovalBelowATreeIsDoneWithTheTree(t *testing.T) {
	for name, watchFirst := range map[string]bool{"the watch ends before the tree begins": false, "and after it": true} {
		t.Run(name, func(t *testing.T) {
			atEach(t, func(t *testing.T, w *env) {
				w.Make("/t")
				data := w.watchData("/t")
				time.Sleep(time.Second)
				for i := range 3 {
					w.Server.ThrottleRequest(zktest.Match{Op: zktest.OpRemoveWatches, Nth: i + 1})
				}
				if !watchFirst {
					data.stop()
				}
				tree := w.watchTree("/t")
				time.Sleep(time.Minute)
				tree.want(t, "watching")
				if watchFirst {
					data.stop()
				}
				w.Session().UnwatchTree("/t", tree)
				time.Sleep(time.Minute)
				if got := w.Server.WatchCount(); got != 0 {
					t.Errorf("got %d watches at the server, want none", got)
				}
			})
		})
	}
}
