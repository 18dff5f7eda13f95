package nodes_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/framework/zktest"
)

func TestANodeIsKeptAtServersOfEachKind(t *testing.T) {
	for name, option := range map[string]zktest.Option{
		"3.4": zktest.WithVersion("3.4"), "3.5": zktest.WithVersion("3.5"), "3.6": zktest.WithVersion("3.6"), "3.8": zktest.WithVersion("3.8"),
		"Keeper 24.8": zktest.WithKeeper("24.8"), "Keeper 26.4": zktest.WithKeeper("26.4"),
	} {
		for mode := framework.Persistent; mode <= framework.EphemeralSequential; mode++ {
			t.Run(fmt.Sprint(name, "/", mode), func(t *testing.T) {
				inBubble(t, func(t *testing.T, server *zktest.Server) {
					client, link := newClient(t, server)
					node := start(t, client, path, "1", withMode(mode)...)
					wantErr(t, node.Set(t.Context(), []byte("2")))
					deleteNode(t, server, node.Path())
					time.Sleep(2 * time.Second)
					expire(t, server, client)
					time.Sleep(2 * time.Second)
					link.Cut()
					time.Sleep(time.Minute)
					link.Heal()
					time.Sleep(5 * time.Second)
					if got, _ := server.Data(node.Path()); string(got) != "2" || !node.There() || node.Err() != nil {
						t.Errorf("got %q, there %v, error %v; want %q, true and none", got, node.There(), node.Err(), "2")
					}
					wantErr(t, node.Close())
					if name == "Keeper 24.8" {
						// It closes the connection on the end of a watch, and gives the client another session.
						time.Sleep(2 * sessionTimeout)
					}
					if server.Exists(node.Path()) {
						t.Error("got a node after Close, want none")
					}
				}, option)
			})
		}
	}
}
