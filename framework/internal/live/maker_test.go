package live_test

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/gocurator/curator/framework/internal/live"
	"github.com/gocurator/curator/framework/session"
	"github.com/gocurator/curator/framework/zktest"
)

// Without create2 the Stat is asked for behind the creation. The caller leaves before it comes, and has no node to
// remove.
func TestACreateThatIsGivenUpWhileItsStatIsAskedForLeavesNoNode(t *testing.T) {
	zktest.Bubble(t, func(t *testing.T) {
		server := zktest.New(t, servers["ZooKeeper 3.4"])
		client := connect(t, server)
		if _, _, err := client.Create(t.Context(), "/dir", nil); err != nil {
			t.Fatal(err)
		}
		release := server.HoldRequest(zktest.Match{Op: zktest.OpExists, Path: "/dir/_c_*"})
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		_, err := enterable(t, client).CreateProtected(ctx, "/dir", "n-", nil)
		wantErr(t, err, context.DeadlineExceeded)
		if n := server.Children("/dir"); len(n) != 1 {
			t.Fatalf("got nodes %q, the test needs one whose Stat was not read", n)
		}
		release()
		synctest.Wait()
		if n := server.Children("/dir"); len(n) != 0 {
			t.Errorf("got nodes %q, want none", n)
		}
	})
}

// A try in one session loses its answer, and the next try is in another, while the servers keep the first. The first
// session's node would go with that one: it is removed, and another is made.
func TestACreationThatGoesOnInAnotherSessionMakesItsNodeThere(t *testing.T) {
	bubble(t, func(t *testing.T, w *env) {
		w.Make("/dir")
		next, ok := enterable(t, w.Dial("zk:2181")).(*live.Session)
		if !ok {
			t.Fatal("got a session of another type, want one of this package")
		}
		c := &live.Creation{Dir: "/dir", Name: "n-", Mode: session.EphemeralSequential, Protected: true}
		w.Server.DropReply(zktest.Match{Op: zktest.OpCreate2, Path: "/dir/*"})
		_, err := w.live().Create(t.Context(), c)
		wantErr(t, err, session.ErrConnectionLost)
		if n := w.Server.Children("/dir"); len(n) != 1 {
			t.Fatalf("got nodes %q, the test needs that of the first session", n)
		}
		entry, err := next.Create(t.Context(), c)
		wantErr(t, err)
		synctest.Wait()
		n := w.Server.Children("/dir")
		if len(n) != 1 || entry.Path != "/dir/"+n[0] || entry.Stat.EphemeralOwner != next.ID() {
			t.Errorf("got %+v, and nodes %q; want one node, of session %#x", entry, n, next.ID())
		}
	})
}
