package live_test

import (
	"testing"
	"time"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/framework/internal/clienttest"
	"github.com/gocurator/curator/framework/zktest"
)

// A server, or what lies before it, closes each connection on which a node is read. The watch that asks for it is the
// first request of each connection: something else must be answered before, or nothing ever says what is wrong.
func TestAWatchThatEndsEachConnectionIsRefused(t *testing.T) {
	for name, c := range map[string]struct {
		op    zktest.Op
		watch func(w *env, path string) *watching
	}{
		"a listing": {zktest.OpGetChildren2, (*env).watchChildren},
		"data":      {zktest.OpGetData, (*env).watchData},
	} {
		t.Run(name, func(t *testing.T) {
			bubble(t, func(t *testing.T, w *env) {
				w.Make("/big")
				for i := range 2000 {
					w.Server.DropRequest(zktest.Match{Op: c.op, Path: "/big", Nth: i + 1})
				}
				o := c.watch(w, "/big")
				defer o.stop()
				began := time.Now()
				w.Eventually("refused", func() bool { return o.view().Status == framework.StatusFailed })
				if waited := time.Since(began); waited > 3*clienttest.SessionTimeout {
					t.Errorf("refused after %v, want it within %v", waited, 3*clienttest.SessionTimeout)
				}
				time.Sleep(time.Second) // the refusal came with the end of a connection
				before := len(w.States.All())
				if _, err := w.Client.Exists(w.Within(time.Minute), "/big"); err != nil {
					t.Error(err)
				}
				time.Sleep(time.Minute)
				if got := w.States.All(); len(got) != before {
					t.Errorf("got the states %v, want none in the minute after the first %d", got, before)
				}
			})
		})
	}
}

// A connection ended on a watch, and an overloaded server refuses the request that has to be answered before the watch
// is set again. That refusal is an answer, too: the connection stays.
func TestARefusalIsAnAnswerBeforeAWatchThatIsDoubted(t *testing.T) {
	bubble(t, func(t *testing.T, w *env) {
		w.Make("/a")
		w.Server.DropRequest(zktest.Match{Op: zktest.OpGetChildren2})
		w.Server.ThrottleRequest(zktest.Match{Op: zktest.OpSync})
		o := w.watchChildren("/a")
		defer o.stop()
		w.Eventually("read", func() bool { return o.view().Status == framework.StatusPresent })
		if got := w.Count(zktest.OpSync); got != 1 {
			t.Errorf("got %d syncs, the test needs one", got)
		}
		time.Sleep(time.Minute)
		if got := w.States.All(); len(got) != 3 { // connected, suspended, reconnected
			t.Errorf("got the states %v, want one outage", got)
		}
	})
}
