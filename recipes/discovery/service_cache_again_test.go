package discovery_test

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/framework/zktest"
	"github.com/gocurator/curator/recipes/discovery"
)

// again deletes the node of an instance and creates it again, in one transaction, as a client: it is that of its
// session then, or of none.
func again(t *testing.T, client *framework.Client, i discovery.ServiceInstance, mode framework.CreateMode) {
	t.Helper()
	path := orders + "/" + i.ID
	_, err := client.Transaction(t.Context(), framework.DeleteOp(path, -1), framework.CreateOp(path, data(t, i), framework.WithMode(mode)))
	must(t, err)
}

// create creates the node of an instance as a client.
func create(t *testing.T, client *framework.Client, i discovery.ServiceInstance, mode framework.CreateMode) {
	t.Helper()
	_, _, err := client.Create(t.Context(), orders+"/"+i.ID, data(t, i), framework.WithMode(mode), framework.CreatingParentContainersIfNeeded())
	must(t, err)
}

// As Java does when it reconnects.
func TestAnInstanceThatItsSessionRegistersAgainIsChanged(t *testing.T) {
	for _, mode := range []framework.CreateMode{framework.Ephemeral, framework.Persistent} {
		inBubble(t, func(t *testing.T, server *zktest.Server) {
			client, _ := newClient(t, server)
			java, _ := newClient(t, server)
			create(t, java, order("a", 80), mode)
			create(t, java, order("b", 80), mode)
			c := follow(t, client)
			heard := subscribe(c)
			heard.want(t, "created a:80", "created b:80", "synced")
			// The subscriber is busy with another instance until the cache has both watch events: between them it would
			// see that the instance has gone.
			goOn := heard.hold()
			create(t, java, order("c", 80), mode)
			synctest.Wait()
			again(t, java, order("a", 80), mode)
			again(t, java, order("b", 81), mode)
			synctest.Wait()
			goOn()
			heard.want(t, "created c:80", "changed a:80 a:80", "changed b:80 b:81")
			wantInstances(t, c, "a:80", "b:81", "c:80")
		})
	}
}

func TestAnInstanceThatWasSeenToGoIsDeletedAndCreated(t *testing.T) {
	inBubble(t, func(t *testing.T, server *zktest.Server) {
		client, _ := newClient(t, server)
		java, _ := newClient(t, server)
		create(t, java, order("a", 80), framework.Ephemeral)
		heard := subscribe(follow(t, client))
		heard.want(t, "created a:80", "synced")
		must(t, java.Delete(t.Context(), orders+"/a", -1))
		synctest.Wait()
		create(t, java, order("a", 80), framework.Ephemeral)
		heard.want(t, "deleted a:80", "created a:80")
	})
}

// While the follower is cut off, one instance is registered again by its session, one by another, one by none, and one
// takes over from none: the follower reads each of them once.
func TestAnInstanceThatAnotherSessionRegistersAgainIsDeletedAndCreated(t *testing.T) {
	inBubble(t, func(t *testing.T, server *zktest.Server) {
		client, link := newClient(t, server)
		java, _ := newClient(t, server)
		other, _ := newClient(t, server)
		for id, mode := range map[string]framework.CreateMode{
			"a": framework.Ephemeral, "b": framework.Ephemeral, "c": framework.Ephemeral, "d": framework.Persistent,
		} {
			create(t, java, order(id, 80), mode)
		}
		c := follow(t, client)
		heard := subscribe(c)
		heard.want(t, "created a:80", "created b:80", "created c:80", "created d:80", "synced")
		link.Cut()
		again(t, java, order("a", 81), framework.Ephemeral)
		again(t, other, order("b", 81), framework.Ephemeral)
		again(t, other, order("c", 81), framework.Persistent)
		again(t, other, order("d", 81), framework.Ephemeral)
		heard.want(t, "stale")
		link.Heal()
		time.Sleep(sessionTimeout / 2)
		heard.wantSorted(t, "changed a:80 a:81", "created b:81", "created c:81", "created d:81",
			"deleted b:80", "deleted c:80", "deleted d:80", "synced")
		wantInstances(t, c, "a:81", "b:81", "c:81", "d:81")
	})
}

// The registration survives the end of its session; the process that has it did not end.
func TestAnInstanceThatIsRegisteredAgainAfterAnExpiryIsDeletedAndCreated(t *testing.T) {
	inBubble(t, func(t *testing.T, server *zktest.Server) {
		client, link := newClient(t, server)
		other, _ := newClient(t, server)
		register(t, other, order("a", 80))
		heard := subscribe(follow(t, client))
		heard.want(t, "created a:80", "synced")
		server.ExpireSession(sessionOf(t, other))
		time.Sleep(time.Second)
		heard.want(t, "deleted a:80", "created a:80")
		link.Cut() // both in one reading
		server.ExpireSession(sessionOf(t, other))
		time.Sleep(time.Second)
		link.Heal()
		time.Sleep(sessionTimeout / 2)
		heard.want(t, "stale", "deleted a:80", "created a:80", "synced")
	})
}

// The session registers again what was no instance, and the other way round.
func TestANodeThatIsRegisteredAgainCountsAsWhatItIs(t *testing.T) {
	inBubble(t, func(t *testing.T, server *zktest.Server) {
		client, _ := newClient(t, server)
		java, _ := newClient(t, server)
		create(t, java, order("a", 80), framework.Ephemeral)
		c := follow(t, client)
		heard := subscribe(c)
		heard.want(t, "created a:80", "synced")
		for range 2 {
			path := orders + "/a"
			_, err := java.Transaction(t.Context(), framework.DeleteOp(path, -1), framework.CreateOp(path, []byte("{"), framework.WithMode(framework.Ephemeral)))
			must(t, err)
			synctest.Wait()
			if c.Bad()["a"] == nil {
				t.Error("got no bad node, want a")
			}
		}
		heard.want(t, "deleted a:80")
		again(t, java, order("a", 81), framework.Ephemeral)
		heard.want(t, "created a:81")
	})
}

// Servers remove a container without children, and Java makes it again with the first. The cache may show the new node
// of the service before it has read what is below.
func TestAServiceWhoseNodeIsMadeAgainLosesNoInstance(t *testing.T) {
	inBubble(t, func(t *testing.T, server *zktest.Server) {
		client, link := newClient(t, server)
		java, _ := newClient(t, server)
		create(t, java, order("a", 80), framework.Ephemeral)
		create(t, java, order("b", 80), framework.Ephemeral)
		c := follow(t, client)
		heard := subscribe(c)
		heard.want(t, "created a:80", "created b:80", "synced")
		link.Cut()
		must(t, java.Delete(t.Context(), orders, -1, framework.DeletingChildrenIfNeeded()))
		create(t, java, order("a", 81), framework.Ephemeral)
		link.Heal()
		time.Sleep(sessionTimeout / 2)
		wantInstances(t, c, "a:81")
		heard.wantKnown(t, c)
	})
}
