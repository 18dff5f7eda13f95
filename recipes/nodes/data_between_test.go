package nodes_test

import (
	"context"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/go-zookeeper/zk"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/framework/zktest"
	"github.com/gocurator/curator/recipes/nodes"
)

// The event that the node has gone is lost, so the refusal of the write says it first.
func TestSetOfANodeThatGoesBetweenLookAndWriteReturnsWhenItIsMadeAgain(t *testing.T) {
	inBubble(t, func(t *testing.T, server *zktest.Server) {
		client, _ := newClient(t, server)
		node := start(t, client, path, "1")
		server.DropEvent(zktest.Match{Path: path})
		once := true
		t.Cleanup(server.Observe(func(request zktest.Request) {
			if request.Op == zktest.OpSetData && once {
				once = false
				_ = server.Delete(path)
			}
		}))
		wantErr(t, node.Set(t.Context(), []byte("2")))
		wantThere(t, server, client, node, "2")
	})
}

// The client asks for the ACL of the next node after the keeper has taken its data, and before they are refused.
func TestDataThatAreTooLargeLeaveThoseOfALaterSet(t *testing.T) {
	inBubble(t, func(t *testing.T, server *zktest.Server) {
		var shared atomic.Pointer[nodes.PersistentNode] // the client calls acl on a goroutine of its own
		later := make(chan (<-chan error), 1)
		acl := func(string) []zk.ACL {
			if node := shared.Load(); node != nil && len(node.Data()) > 4096 {
				later <- setSoon(t.Context(), node, "3")
			}
			return zk.WorldACL(zk.PermAll)
		}
		client, link := newClient(t, server, framework.WithMaxRequest(4096), framework.WithACLProvider(acl))
		node := newNode(t, client, path, "1")
		shared.Store(node)
		wantErr(t, node.Start(t.Context()))
		link.Cut()
		time.Sleep(time.Minute)
		wantErr(t, node.Set(within(t, time.Second), []byte(strings.Repeat("x", 5000))), context.DeadlineExceeded)
		link.Heal()
		time.Sleep(time.Minute)
		wantErr(t, <-<-later)
		wantThere(t, server, client, node, "3")
	})
}
