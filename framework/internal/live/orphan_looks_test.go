package live_test

import (
	"bytes"
	"log/slog"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/framework/internal/clienttest"
	"github.com/gocurator/curator/framework/zktest"
)

// The node of a try goes with its session. The next session asks for nothing.
func TestALostCreateThatGoesWithItsSessionIsNotLookedForInTheNext(t *testing.T) {
	bubble(t, func(t *testing.T, w *env) {
		w.Make("/dir")
		how := lateCreates["sequential"]
		_, goOn := stalled(t, w, how.op, how.create)
		old := w.Session()
		w.Server.ExpireSession(old.ID())
		<-old.Done()
		w.Connected()
		before := w.Server.Counts()
		time.Sleep(100 * clienttest.SessionTimeout)
		after := w.Server.Counts()
		if fences, listings := after[zktest.OpMulti]-before[zktest.OpMulti], after[zktest.OpGetChildren2]-before[zktest.OpGetChildren2]; fences != 0 || listings != 0 {
			t.Errorf("got %d transactions and %d listings, want none", fences, listings)
		}
		goOn()
	})
}

// A reader's create is a sequential one, and then one of a known name in the same directory. Each gets all its looks.
func TestLateNodesOfTwoKindsInOneDirectoryAreRemoved(t *testing.T) {
	bubble(t, func(t *testing.T, w *env) {
		w.Make("/dir")
		w.Make("/guard")
		first, second := lateCreates["sequential"], lateCreates["if another exists"]
		_, goOn := stalled(t, w, first.op, first.create)
		goOnToo := w.Server.Stall(zktest.Match{Op: second.op, Path: "/dir/*"})
		created := make(chan error, 1)
		go func() {
			_, err := second.create(t, w)
			created <- err
		}()
		synctest.Wait()
		w.Server.CutSession(w.Session().ID())
		wantErr(t, <-created)
		time.Sleep(4*clienttest.SessionTimeout - time.Second)
		own := w.Server.Children("/dir")
		goOn()
		goOnToo()
		synctest.Wait()
		if n := w.Server.Children("/dir"); len(own) != 2 || len(n) != 4 {
			t.Fatalf("got nodes %q, and then %q; the test needs two, and two that are created late", own, n)
		}
		time.Sleep(5 * clienttest.SessionTimeout)
		if n := w.Server.Children("/dir"); strings.Join(n, " ") != strings.Join(own, " ") {
			t.Errorf("got nodes %q, want %q", n, own)
		}
	})
}

// Nothing else says why a lock was taken for a moment.
func TestALateNodeIsLoggedAndTraced(t *testing.T) {
	var log bytes.Buffer
	var traced []string
	var late string
	bubble(t, func(t *testing.T, w *env) {
		w.Make("/dir")
		how := lateCreates["sequential"]
		path, goOn := stalled(t, w, how.op, how.create)
		goOn()
		synctest.Wait()
		for _, name := range w.Server.Children("/dir") {
			if path != "/dir/"+name {
				late = "/dir/" + name
			}
		}
		time.Sleep(clienttest.SessionTimeout)
	},
		framework.WithLogger(slog.New(slog.NewTextHandler(&log, &slog.HandlerOptions{Level: slog.LevelWarn}))),
		framework.WithTrace(framework.Trace{OrphanFound: func(path string) { traced = append(traced, path) }}))
	if late == "" || len(traced) != 1 || traced[0] != late {
		t.Errorf("got %q traced, want %q", traced, late)
	}
	if n := strings.Count(log.String(), "path="+late); n != 1 {
		t.Errorf("got %d records that name %s, want one: %s", n, late, log.String())
	}
}

// The directory is deleted, as servers delete empty containers: nothing is wrong with the looks.
func TestALookInADirectoryThatIsGoneIsNotLogged(t *testing.T) {
	var log bytes.Buffer
	bubble(t, func(t *testing.T, w *env) {
		w.Make("/dir")
		how := lateCreates["sequential"]
		path, goOn := stalled(t, w, how.op, how.create)
		w.remove(path)
		w.remove("/dir")
		before := w.Count(zktest.OpGetChildren2)
		time.Sleep(10 * clienttest.SessionTimeout)
		if n := w.Count(zktest.OpGetChildren2) - before; n != 4 {
			t.Errorf("got %d looks, want 4", n)
		}
		goOn()
	}, framework.WithLogger(slog.New(slog.NewTextHandler(&log, &slog.HandlerOptions{Level: slog.LevelWarn}))))
	if strings.Contains(log.String(), "could not be looked for") {
		t.Errorf("got a record of a look that failed, want none: %s", log.String())
	}
}
