package nodes

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/go-zookeeper/zk"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/framework/zktest"
)

// ctx ends, so Start fails. Before it has ended its keeper, that finds the node of a predecessor, with the same data.
func TestAKeeperTakesNoNodeOverOnceStartFails(t *testing.T) {
	zktest.Bubble(t, func(t *testing.T) {
		server := zktest.New(t)
		makePredecessors(t, server, "new", zk.PermAll)
		release := server.HoldRequest(zktest.Match{Op: zktest.OpGetData, Path: "/a"})
		n, k := keepBeforeStart(t, server, "any:2181", WithMode(framework.Persistent))
		time.Sleep(time.Second)
		if !n.fails() {
			t.Error("got a Start that does not fail, want one that does: no node is kept")
		}
		release()
		time.Sleep(time.Second)
		if n.There() {
			t.Error("got there, want not there")
		}
		_ = k.end()
		wantData(t, server, "new")
	})
}

// The keeper finds the node of a predecessor, with the same data, right before ctx ends. Start returns with it: if it
// failed, the node would be removed, and nothing of this client's was executed on it.
func TestStartDoesNotFailOnceItsNodeWasKept(t *testing.T) {
	zktest.Bubble(t, func(t *testing.T) {
		server := zktest.New(t)
		makePredecessors(t, server, "new", zk.PermAll)
		n, k := keepBeforeStart(t, server, "any:2181", WithMode(framework.Persistent))
		time.Sleep(time.Second)
		if n.fails() || !n.There() {
			t.Errorf("got there: %t, and a Start that fails or a node that is not there", n.There())
		}
		_ = k.end()
		if server.Exists("/a") {
			t.Error("got a node, want none after the end of its keeper")
		}
	})
}

// A touch is refused after the data were written, and before the goroutine of Set has run again.
func TestASetWhoseDataTheNodeHadReturnsWhateverIsRefusedLater(t *testing.T) {
	n, k := NewPersistentNode(nil, "/a", nil), &keeper{}
	n.keeper, n.state = k, state{there: true, reason: zk.ErrNoAuth, tried: 2, had: content{number: 2}}
	if err := n.await(t.Context(), k, 2); err != nil {
		t.Errorf("got %v, want none", err)
	}
}

// A slowContext takes a second for each Done: what waits for it does not run in that time.
type slowContext struct{ context.Context }

func (c slowContext) Done() <-chan struct{} {
	time.Sleep(time.Second)
	return c.Context.Done()
}

// The keeper finds the node of a predecessor, with the same data, and its child called touch is refused. Start wakes
// after both.
func TestStartOfANodeWhoseTouchIsRefusedReturnsAndErrSaysSo(t *testing.T) {
	zktest.Bubble(t, func(t *testing.T) {
		server := zktest.New(t)
		makePredecessors(t, server, "new", zk.PermAll&^zk.PermCreate)
		client, err := framework.NewClient("any:2181", framework.WithDialer(server.DialContext))
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = client.Close() }()
		if err := client.BlockUntilConnected(t.Context()); err != nil {
			t.Fatal(err)
		}
		n := NewPersistentNode(client, "/a", []byte("new"), WithMode(framework.PersistentWithTTL), WithTTL(time.Hour), Overwriting())
		if err := n.Start(slowContext{t.Context()}); err != nil {
			t.Errorf("got the error %v, want none", err)
		}
		if err := n.Err(); !errors.Is(err, zk.ErrNoAuth) {
			t.Errorf("got Err %v, want %v", err, zk.ErrNoAuth)
		}
		_ = n.Close()
		if server.Exists("/a") {
			t.Error("got a node after Close, want none")
		}
	})
}
