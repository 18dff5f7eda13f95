package nodes_test

import (
	"strings"
	"testing"
	"time"

	"github.com/go-zookeeper/zk"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/framework/zktest"
	"github.com/gocurator/curator/recipes/nodes"
)

func anyone(perms int32) zktest.ACL { return zktest.ACL{Perms: perms, Scheme: "world", ID: "anyone"} }

func TestStartBelowAnEphemeralNodeFails(t *testing.T) {
	inBubble(t, func(t *testing.T, server *zktest.Server) {
		client, _ := newClient(t, server)
		makeEphemeral(t, client, "/services/web", "x")
		for _, mode := range []framework.CreateMode{framework.Ephemeral, framework.EphemeralSequential, framework.Persistent} {
			node := newNode(t, client, path, "up", withMode(mode)...)
			wantErr(t, node.Start(t.Context()), zk.ErrNoChildrenForEphemerals)
			wantNotThere(t, node, nodes.ErrNotStarted)
		}
		node := newNode(t, client, path+"/below/it", "up")
		wantErr(t, node.Start(t.Context()), zk.ErrNoChildrenForEphemerals)
	})
}

func TestStartWithoutPermissionToCreateFailsAndWorksOnceItIsGiven(t *testing.T) {
	inBubble(t, func(t *testing.T, server *zktest.Server) {
		makeNode(t, server, "/services/web", "")
		wantErr(t, server.SetACL("/services/web", anyone(1)))
		client, _ := newClient(t, server)
		for _, mode := range []framework.CreateMode{framework.Ephemeral, framework.EphemeralSequential, framework.Persistent} {
			node := newNode(t, client, path, "up", withMode(mode)...)
			wantErr(t, node.Start(t.Context()), zk.ErrNoAuth)
			wantErr(t, server.SetACL("/services/web", anyone(31)))
			wantErr(t, node.Start(t.Context()))
			wantErr(t, node.Close())
			wantErr(t, server.SetACL("/services/web", anyone(1)))
		}
	})
}

func TestWithoutPermissionToMakeItAgainErrSaysSoUntilItIsGiven(t *testing.T) {
	for _, mode := range []framework.CreateMode{framework.Ephemeral, framework.EphemeralSequential, framework.Persistent} {
		inBubble(t, func(t *testing.T, server *zktest.Server) {
			makeNode(t, server, "/services/web", "")
			client, _ := newClient(t, server)
			node := start(t, client, path, "up", withMode(mode)...)
			var heard changes
			node.OnChange(heard.hear)
			wantErr(t, server.SetACL("/services/web", anyone(1)))
			deleteNode(t, server, node.Path())
			time.Sleep(time.Minute)
			wantNotThere(t, node, zk.ErrNoAuth)
			heard.want(t, false)
			count := server.CountRequests(zktest.Match{})
			time.Sleep(time.Minute)
			if n := count(); n > 5*60 {
				t.Errorf("got %d requests in a minute, want a few a second at most", n)
			}
			wantErr(t, server.SetACL("/services/web", anyone(31)))
			time.Sleep(2 * time.Second)
			heard.want(t, true)
			if data, _ := server.Data(node.Path()); string(data) != "up" || node.Err() != nil {
				t.Errorf("got %q, error %v; want %q and none", data, node.Err(), "up")
			}
		})
	}
}

func TestANodeThatWasRefusedIsMadeAtOnceInTheNextSession(t *testing.T) {
	inBubble(t, func(t *testing.T, server *zktest.Server) {
		makeNode(t, server, "/services/web", "")
		client, _ := newClient(t, server)
		node := start(t, client, path, "up")
		for range 10 { // each pause is at random
			wantErr(t, server.SetACL("/services/web", anyone(1)))
			deleteNode(t, server, path)
			time.Sleep(time.Minute)
			wantNotThere(t, node, zk.ErrNoAuth)
			wantErr(t, server.SetACL("/services/web", anyone(31)))
			expire(t, server, client)
			wantThere(t, server, client, node, "up")
		}
	})
}

// Nothing but the Stat of such a node can be read: the data are written once more, to be sure.
func TestANodeThatItsCreatorMayNotReadIsKeptAndSetAtServersThatShowItsStat(t *testing.T) {
	inBubble(t, func(t *testing.T, server *zktest.Server) {
		makeNode(t, server, "/services/web", "")
		client, _ := newClient(t, server, framework.WithACLProvider(func(string) []zk.ACL { return zk.WorldACL(zk.PermAll &^ zk.PermRead) }))
		node := start(t, client, path, "1")
		wantThere(t, server, client, node, "1")
		wantErr(t, node.Set(t.Context(), []byte("2")))
		wantThere(t, server, client, node, "2")
		executed := record(t, server, path)
		time.Sleep(time.Hour)
		executed.want(t)
		expire(t, server, client)
		wantThere(t, server, client, node, "2")
		deleteNode(t, server, path)
		wantThere(t, server, client, node, "2")
		wantErr(t, node.Close())
		wantNode(t, server, path, "", 0)
	}, zktest.WithVersion("3.6"))
}

// Since 3.8.4 and 3.9.2 servers show nothing of it.
func TestANodeThatMayNotBeReadIsAnErrorUntilItMay(t *testing.T) {
	inBubble(t, func(t *testing.T, server *zktest.Server) {
		makeNode(t, server, path, "up")
		closed := zktest.ACL{Perms: 31, Scheme: "digest", ID: "x:x"}
		wantErr(t, server.SetACL(path, closed))
		client, _ := newClient(t, server)
		node := newNode(t, client, path, "up")
		wantErr(t, node.Start(t.Context()), zk.ErrNoAuth)
		deleteNode(t, server, path)
		wantErr(t, node.Start(t.Context()))
		wantErr(t, server.SetACL(path, closed))
		time.Sleep(15 * time.Minute) // the session reads a watched node again, later and later
		wantErr(t, node.Err(), zk.ErrNoAuth)
		wantErr(t, server.SetACL(path, anyone(31)))
		time.Sleep(2 * time.Second)
		wantThere(t, server, client, node, "up")
		wantErr(t, server.SetACL(path, closed))
		time.Sleep(15 * time.Minute)
		wantErr(t, server.Delete(path)) // servers send no event to a client that may not read
		time.Sleep(2 * time.Second)
		wantThere(t, server, client, node, "up")
	})
}

func TestParentsAreMadeAgainWhenServersHaveRemovedThem(t *testing.T) {
	inBubble(t, func(t *testing.T, server *zktest.Server) {
		client, _ := newClient(t, server)
		node := start(t, client, path, "up")
		proceed := server.HoldRequest(zktest.Match{Op: zktest.OpCreate2})
		deleteNode(t, server, path)
		time.Sleep(5 * time.Second) // empty containers go
		if server.Exists("/services") {
			t.Fatal("the parents are there, want none")
		}
		proceed()
		wantThere(t, server, client, node, "up")
	})
}

func TestANodeIsKeptBelowNamespaceAndChroot(t *testing.T) {
	inBubble(t, func(t *testing.T, server *zktest.Server) {
		makeNode(t, server, "/app", "")
		client, _ := newClientAt(t, server, "/app", framework.WithNamespace("space"))
		wantErr(t, client.BlockUntilConnected(t.Context()))
		for mode := framework.Persistent; mode <= framework.EphemeralSequential; mode++ {
			node := start(t, client, path, "1", withMode(mode)...)
			if n := len(server.Children("/app/space/services/web")); n != 1 {
				t.Errorf("mode %v: got %d nodes, want 1", mode, n)
			}
			if got, _ := server.Data("/app/space" + node.Path()); string(got) != "1" {
				t.Errorf("mode %v: got %q at %s, want %q", mode, got, node.Path(), "1")
			}
			deleteNode(t, server, "/app/space"+node.Path())
			time.Sleep(2 * time.Second)
			wantErr(t, node.Set(t.Context(), []byte("2")))
			expire(t, server, client)
			time.Sleep(2 * time.Second)
			if got, _ := server.Data("/app/space" + node.Path()); string(got) != "2" || !node.There() {
				t.Errorf("mode %v: got %q, there %v; want %q, true", mode, got, node.There(), "2")
			}
			wantErr(t, node.Close())
			if left := server.Children("/app/space/services/web"); len(left) != 0 {
				t.Errorf("mode %v: got %q left, want none", mode, left)
			}
		}
	})
}

func TestStartWithoutTheChrootFailsAndWhileRunningErrSaysSo(t *testing.T) {
	inBubble(t, func(t *testing.T, server *zktest.Server) {
		client, _ := newClientAt(t, server, "/app")
		node := newNode(t, client, path, "up")
		wantErr(t, node.Start(t.Context()), framework.ErrNoChroot)
		makeNode(t, server, "/app", "")
		wantErr(t, client.BlockUntilConnected(t.Context()))
		wantErr(t, node.Start(t.Context()))
		if !server.Exists("/app" + path) {
			t.Error("got no node below the chroot, want one")
		}
		for data, lose := range map[string]func(){
			"2": func() { // while the client is cut off
				server.RefuseConnections(true)
				s := sessionOf(t, client)
				server.ExpireSession(s.ID())
				<-s.Done()
				time.Sleep(5 * time.Second) // empty containers go
				deleteNode(t, server, "/app")
				server.RefuseConnections(false)
			},
			"3": func() { // while it is connected
				server.Freeze()
				for dir := "/app" + path; dir != ""; dir = dir[:strings.LastIndexByte(dir, '/')] {
					deleteNode(t, server, dir)
				}
				server.Unfreeze()
			},
		} {
			lose()
			time.Sleep(time.Minute)
			wantNotThere(t, node, framework.ErrNoChroot)
			wantErr(t, node.Set(t.Context(), []byte(data)), framework.ErrNoChroot)
			makeNode(t, server, "/app", "")
			time.Sleep(time.Minute)
			if got, _ := server.Data("/app" + path); string(got) != data || !node.There() || node.Err() != nil {
				t.Errorf("got %q, there %v, error %v; want %q, true and none", got, node.There(), node.Err(), data)
			}
		}
	})
}
