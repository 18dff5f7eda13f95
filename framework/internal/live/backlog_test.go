package live_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/framework/zktest"
)

// A guaranteed deletion that one session leaves to the next is asked for once. Asked for again in a third session, it
// would remove what another client has made since.
func TestACarriedRemovalIsAskedForOnce(t *testing.T) {
	zktest.Bubble(t, func(t *testing.T) {
		server := zktest.New(t)
		must(t, server.Create("/x", nil))
		client := connect(t, server)
		s := enterable(t, client)
		release := server.HoldRequest(zktest.Match{Op: zktest.OpDelete})
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		if err := client.Delete(ctx, "/x", -1, framework.Guaranteed()); !errors.Is(err, context.DeadlineExceeded) {
			t.Fatalf("got %v, want the deadline", err)
		}
		server.ExpireSession(s.ID())
		release()
		time.Sleep(5 * time.Second)
		if server.Exists("/x") {
			t.Fatal("got /x, want it deleted by the next session")
		}
		asked := server.Counts()[zktest.OpDelete]
		if asked != 1 {
			t.Errorf("the next session asked %d times", asked)
		}
		must(t, server.Create("/x", nil))
		for range 2 {
			server.ExpireSession(enterable(t, client).ID())
			time.Sleep(5 * time.Second)
		}
		if again := server.Counts()[zktest.OpDelete]; again != asked || !server.Exists("/x") {
			t.Errorf("later sessions asked %d times; the new node is there: %v", again-asked, server.Exists("/x"))
		}
	})
}
