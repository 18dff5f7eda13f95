package nodes_test

import (
	"context"
	"testing"
	"time"

	"github.com/go-zookeeper/zk"

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

func TestCloseSaysThatTheNodeOfTheSessionBeforeMayNotBeRemoved(t *testing.T) {
	inBubble(t, func(t *testing.T, server *zktest.Server) {
		node, _, release := afterItsSession(t, server)
		wantErr(t, server.SetACL("/services/web", anyone(zk.PermAll&^zk.PermDelete)))
		time.AfterFunc(time.Second, release)
		wantErr(t, node.Close(), zk.ErrNoAuth)
	})
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

// What no client can promise: the session before ends between the look at its node and the transaction that replaces
// it, and within that round trip another client, which has waited for the path, creates its own.
func TestAStrangersNodeIsReplacedIfItComesBetweenTheLookAtAFormerOneAndTheTransaction(t *testing.T) {
	zktest.Bubble(t, func(t *testing.T) {
		const path, timeout = "/services/a", 10 * time.Second
		server := zktest.New(t)
		link := server.NewLink()
		var programs [2]*nodes.PersistentNode
		for i, dialer := range []*zktest.Link{link, server.NewLink()} {
			client, err := framework.NewClient("zk:2181", framework.WithDialer(dialer.DialContext), framework.WithSessionTimeout(timeout))
			must(t, err)
			defer client.Close()
			programs[i] = nodes.NewPersistentNode(client, path, []byte{byte(i)})
			defer programs[i].Close()
		}
		must(t, programs[0].Start(t.Context()))
		started := make(chan error, 1)
		go func() { started <- programs[1].Start(t.Context()) }()
		former, _ := server.Stat(path)
		link.Mute()
		time.Sleep(timeout / 2)
		server.Restart()
		time.Sleep(timeout/2 + time.Second)
		release := server.HoldRequest(zktest.Match{Op: zktest.OpMulti, Path: path})
		link.Heal()
		time.Sleep(time.Second) // the transaction is held
		server.ExpireSession(former.EphemeralOwner)
		must(t, <-started)
		release()
		time.Sleep(time.Second)
		if data, _ := server.Data(path); string(data) != "\x00" || programs[1].There() || !programs[0].There() {
			t.Errorf("got the node with %q, there: %t and %t; want the first program's", data, programs[0].There(), programs[1].There())
		}
	})
}
