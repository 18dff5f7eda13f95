package nodes_test

import (
	"context"
	"testing"
	"time"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/framework/zktest"
	"github.com/gocurator/curator/recipes/nodes"
)

// afterItsSession returns a node whose session has ended by its client's clock, and lives on at the server, which was
// restarted meanwhile. The next session has just begun: it has asked for nothing that was answered, until release.
func afterItsSession(t *testing.T, server *zktest.Server) (node *nodes.PersistentNode, link *zktest.Link, release func()) {
	t.Helper()
	client, link := newClient(t, server, framework.WithConnectionTimeout(3*time.Second))
	node = start(t, client, path, "up")
	before, _ := server.Stat(path)
	link.Mute()
	time.Sleep(sessionTimeout / 2)
	server.Restart()
	time.Sleep(sessionTimeout/2 + time.Second)
	release = server.HoldRequest(zktest.Match{Op: zktest.OpCreate2, Path: path})
	t.Cleanup(release)
	link.Heal()
	sessionOf(t, client)
	time.Sleep(time.Millisecond) // the create is held
	if stat, _ := server.Stat(path); stat.EphemeralOwner != before.EphemeralOwner {
		t.Fatalf("got a node of session %#x, want that of %#x", stat.EphemeralOwner, before.EphemeralOwner)
	}
	return node, link, release
}

func TestCloseRemovesTheNodeOfTheSessionBeforeWhateverAnswerIsLost(t *testing.T) {
	const none = zktest.OpSetData // is not asked
	for _, op := range []zktest.Op{none, zktest.OpSync, zktest.OpExists, zktest.OpMulti} {
		t.Run(op.String(), func(t *testing.T) {
			inBubble(t, func(t *testing.T, server *zktest.Server) {
				node, _, release := afterItsSession(t, server)
				server.DropReply(zktest.Match{Op: op, Path: path})
				time.AfterFunc(time.Second, release)
				wantErr(t, node.Close())
				wantNode(t, server, path, "", 0)
			})
		})
	}
}

func TestCloseInAnOutageAfterItsSessionEndsWithTheConnectionTimeout(t *testing.T) {
	inBubble(t, func(t *testing.T, server *zktest.Server) {
		node, link, _ := afterItsSession(t, server)
		link.Mute()
		began := time.Now()
		wantErr(t, node.Close(), context.DeadlineExceeded)
		if got, want := time.Since(began), 3*time.Second; got != want {
			t.Errorf("Close took %v, want %v", got, want)
		}
	})
}
