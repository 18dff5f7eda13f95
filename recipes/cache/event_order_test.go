package cache_test

import (
	"slices"
	"testing"
	"testing/synctest"

	"github.com/gocurator/curator/framework/zktest"
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
