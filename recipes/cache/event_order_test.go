package cache_test

import (
	"fmt"
	"slices"
	"testing"
	"testing/synctest"

	"github.com/gocurator/curator/framework/zktest"
	"github.com/gocurator/curator/recipes/cache"
)

// Two generations are read while their parent is deleted and created again with them. The answers have the new nodes,
// and come before the new parent is read.
func TestNewNodesThatAreReadBeforeTheirNewParentAreDeletedBeforeTheOldParent(t *testing.T) {
	inBubble(t, func(t *testing.T, server *zktest.Server) {
		family := []string{"/t/p", "/t/p/c", "/t/p/c/d"}
		for _, path := range append([]string{"/t"}, family...) {
			makeNode(t, server, path, "1")
		}
		client, _ := newClient(t, server)
		events := subscribe(start(t, client, "/t"))
		events.want(t, "created /t=1", "created /t/p=1", "created /t/p/c=1", "created /t/p/c/d=1", "synced")

		release := server.HoldRequest(zktest.Match{Op: zktest.OpGetData, Path: "/t/p/c*"})
		setNode(t, server, "/t/p/c", "2")
		setNode(t, server, "/t/p/c/d", "2")
		synctest.Wait() // the requests are at the server
		for _, path := range slices.Backward(family) {
			deleteNode(t, server, path)
		}
		for _, path := range family {
			makeNode(t, server, path, "3")
		}
		release()
		events.want(t,
			"deleted /t/p/c/d=1", "deleted /t/p/c=1", "created /t/p/c=3", "created /t/p/c/d=3",
			"deleted /t/p/c/d=3", "deleted /t/p/c=3", "deleted /t/p=1",
			"created /t/p=3", "created /t/p/c=3", "created /t/p/c/d=3")
	})
}

// A recipe above the cache may take the two for one change, if it knows them for a pair.
func TestEventsOfANodeThatWasMadeAgainHaveBothNodes(t *testing.T) {
	inBubble(t, func(t *testing.T, server *zktest.Server) {
		makeNode(t, server, "/t", "")
		makeNode(t, server, "/t/a", "old")
		client, _ := newClient(t, server)
		c := start(t, client, "/t")
		var heard []string
		c.OnEvent(func(event cache.Event) {
			heard = append(heard, fmt.Sprintf("%v %q %q", event.Kind, event.Old.Data, event.New.Data))
		})
		synctest.Wait()
		release := server.HoldRequest(zktest.Match{Op: zktest.OpGetData, Path: "/t/a"})
		setNode(t, server, "/t/a", "older")
		synctest.Wait() // the request is at the server
		deleteNode(t, server, "/t/a")
		makeNode(t, server, "/t/a", "new")
		release()
		synctest.Wait()
		deleteNode(t, server, "/t/a")
		synctest.Wait()
		makeNode(t, server, "/t/a", "last")
		synctest.Wait()
		want := []string{
			`created "" ""`, `created "" "old"`, `synced "" ""`, `deleted "old" "new"`, `created "old" "new"`,
			`deleted "new" ""`, `created "" "last"`,
		}
		if !slices.Equal(heard, want) {
			t.Errorf("got the events %q, want %q", heard, want)
		}
	})
}
