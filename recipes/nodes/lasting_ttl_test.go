package nodes_test

import (
	"testing"
	"time"

	"github.com/go-zookeeper/zk"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/framework/zktest"
	"github.com/gocurator/curator/recipes/nodes"
)

const ttl = time.Minute

func withTTL(mode framework.CreateMode) []nodes.Option {
	return append(withMode(mode), nodes.WithTTL(ttl))
}

var ttlModes = []framework.CreateMode{framework.PersistentWithTTL, framework.PersistentSequentialWithTTL}

func TestANodeWithATTLIsKeptByAChildThatIsWrittenTwiceInThatTime(t *testing.T) {
	for _, mode := range ttlModes {
		inBubble(t, func(t *testing.T, server *zktest.Server) {
			client, _ := newClient(t, server)
			node := start(t, client, path, "up", withTTL(mode)...)
			watched := record(t, server, node.Path())
			touched := record(t, server, node.Path()+"/touch")
			time.Sleep(10*ttl + ttl/4)
			wantKept(t, server, node, "up")
			watched.want(t)
			if n := len(touched.all); n < 19 || n > 21 {
				t.Errorf("mode %v: the child was written %d times in ten times the TTL, want 20", mode, n)
			}
			wantErr(t, node.Close())
			wantNode(t, server, node.Path(), "", 0)
			time.Sleep(10 * ttl)
		})
	}
}

func TestWatchersOfANodeWithATTLHearNothingOfTheChildsWrites(t *testing.T) {
	inBubble(t, func(t *testing.T, server *zktest.Server) {
		client, _ := newClient(t, server)
		start(t, client, path, "up", withTTL(framework.PersistentWithTTL)...)
		other, _ := newClient(t, server)
		ctx := within(t, 10*ttl)
		views := map[string]int{}
		for view, err := range other.Watch(ctx, path) {
			if err == nil && view.Status == framework.StatusPresent {
				views["node"]++
			}
		}
		ctx = within(t, 10*ttl)
		for view, err := range other.WatchChildren(ctx, path) {
			if err == nil && view.Status == framework.StatusPresent {
				views["children"]++
			}
		}
		if views["node"] != 1 || views["children"] != 1 {
			t.Errorf("got %v views in ten times the TTL, want the first of each", views)
		}
	})
}

func TestANodeWithATTLGoesAfterTheProgramHasEnded(t *testing.T) {
	for _, mode := range ttlModes {
		inBubble(t, func(t *testing.T, server *zktest.Server) {
			client, _ := newClient(t, server)
			node := start(t, client, path, "up", withTTL(mode)...)
			time.Sleep(5 * ttl)
			wantErr(t, client.Close())
			time.Sleep(ttl / 2)
			wantNode(t, server, node.Path(), "up", 0)
			time.Sleep(2*ttl + 5*time.Second) // first the child, then the node
			wantNode(t, server, node.Path(), "", 0)
		})
	}
}

func TestANodeWithATTLThatWentInAnOutageIsMadeAgain(t *testing.T) {
	inBubble(t, func(t *testing.T, server *zktest.Server) {
		client, link := newClient(t, server)
		node := start(t, client, path, "up", withTTL(framework.PersistentWithTTL)...)
		link.Cut()
		time.Sleep(5 * ttl)
		wantNode(t, server, path, "", 0)
		link.Heal()
		time.Sleep(10 * time.Second)
		wantKept(t, server, node, "up")
		time.Sleep(5 * ttl)
		wantKept(t, server, node, "up")
	})
}

func TestANodeWithATTLOutlivesAnOutageOfHalfOfIt(t *testing.T) {
	inBubble(t, func(t *testing.T, server *zktest.Server) {
		client, link := newClient(t, server)
		executed := record(t, server, path)
		node := start(t, client, path, "up", withTTL(framework.PersistentWithTTL)...)
		for range 10 {
			link.Cut()
			time.Sleep(ttl/2 - 5*time.Second)
			link.Heal()
			time.Sleep(10 * time.Second)
		}
		wantKept(t, server, node, "up")
		executed.want(t, "Created=up")
	})
}

func TestTheTouchOfANodeThatIsDeletedIsMadeAgain(t *testing.T) {
	inBubble(t, func(t *testing.T, server *zktest.Server) {
		client, _ := newClient(t, server)
		node := start(t, client, path, "up", withTTL(framework.PersistentWithTTL)...)
		time.Sleep(ttl / 4)
		deleteNode(t, server, path+"/touch")
		deleteNode(t, server, path)
		time.Sleep(5 * ttl)
		wantKept(t, server, node, "up")
		deleteNode(t, server, path+"/touch")
		time.Sleep(5 * ttl)
		wantKept(t, server, node, "up")
	})
}

func TestTheTouchThatWasRefusedIsMadeOnceItIsPermitted(t *testing.T) {
	inBubble(t, func(t *testing.T, server *zktest.Server) {
		client, _ := newClient(t, server)
		node := start(t, client, path, "up", withTTL(framework.PersistentWithTTL)...)
		executed := record(t, server, path)
		time.Sleep(ttl / 4)
		wantErr(t, server.SetACL(path, anyone(31&^zk.PermCreate)))
		time.Sleep(ttl / 2)
		wantErr(t, node.Err(), zk.ErrNoAuth)
		wantErr(t, node.Set(within(t, 10*time.Second), []byte("more")))
		wantErr(t, server.SetACL(path, anyone(31&^zk.PermWrite)))
		wantErr(t, node.Set(within(t, 10*time.Second), []byte("most")), zk.ErrNoAuth)
		time.Sleep(5 * ttl)
		wantErr(t, server.SetACL(path, anyone(31)))
		time.Sleep(5 * ttl)
		wantKept(t, server, node, "most")
		executed.want(t, "ACLSet=", "DataSet=more", "ACLSet=", "ACLSet=", "DataSet=most")
	})
}

func TestStartWithATTLWhereServersHaveNoneIsErrUnsupported(t *testing.T) {
	for name, option := range map[string]zktest.Option{
		"off": zktest.WithTTLNodes(false), "3.4": zktest.WithVersion("3.4"), "Keeper": zktest.WithKeeper("24.8"),
	} {
		t.Run(name, func(t *testing.T) {
			inBubble(t, func(t *testing.T, server *zktest.Server) {
				makeNode(t, server, "/services/web", "")
				client, _ := newClient(t, server)
				for _, mode := range ttlModes {
					node := newNode(t, client, path, "up", withTTL(mode)...)
					if name == "Keeper" {
						wantSomeErr(t, node.Start(t.Context()))
					} else {
						wantErr(t, node.Start(t.Context()), framework.ErrUnsupported)
					}
				}
				if left := server.Children("/services/web"); len(left) != 0 {
					t.Errorf("got %q, want nothing left", left)
				}
			}, option)
		})
	}
}
