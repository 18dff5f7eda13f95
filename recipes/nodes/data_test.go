package nodes_test

import (
	"context"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-zookeeper/zk"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/framework/zktest"
	"github.com/gocurator/curator/recipes/nodes"
)

// setSoon sets data on a goroutine of its own.
func setSoon(ctx context.Context, node *nodes.PersistentNode, data string) (ended <-chan error) {
	done := make(chan error, 1)
	go func() { done <- node.Set(ctx, []byte(data)) }()
	synctest.Wait()
	return done
}

// The view of the node's watch has the data before a write until it has been read again.
func TestSetToTheDataBeforeTheLastWriteWritesThem(t *testing.T) {
	inBubble(t, func(t *testing.T, server *zktest.Server) {
		client, _ := newClient(t, server)
		node := start(t, client, path, "1")
		wantErr(t, node.Set(t.Context(), []byte("2")))
		wantErr(t, node.Set(t.Context(), []byte("1")))
		wantThere(t, server, client, node, "1")
	})
}

func TestSetIsOneWriteAndOneReadAndLaterNodesHaveTheData(t *testing.T) {
	inBubble(t, func(t *testing.T, server *zktest.Server) {
		client, _ := newClient(t, server)
		node := start(t, client, path, "1")
		r := observe(t, server)
		data := []byte("2")
		wantErr(t, node.Set(t.Context(), data))
		copy(data, "x")
		r.want(t, "setData "+path, "getData "+path)
		wantThere(t, server, client, node, "2")
		expire(t, server, client)
		wantThere(t, server, client, node, "2")
	})
}

func TestSetToTheDataThatAreThereWritesNothing(t *testing.T) {
	inBubble(t, func(t *testing.T, server *zktest.Server) {
		client, _ := newClient(t, server)
		node := start(t, client, path, "1")
		r := observe(t, server)
		wantErr(t, node.Set(t.Context(), []byte("1")))
		r.want(t)
	})
}

func TestOfTwoQuickSetsTheNodeGetsTheLast(t *testing.T) {
	inBubble(t, func(t *testing.T, server *zktest.Server) {
		client, link := newClient(t, server)
		node := start(t, client, path, "1")
		link.SetLatency(10 * time.Millisecond)
		first := setSoon(t.Context(), node, "2")
		second := setSoon(t.Context(), node, "3")
		wantErr(t, <-first)
		wantErr(t, <-second)
		wantThere(t, server, client, node, "3")
	})
}

func TestSetWhileStartBlocksGivesTheNodeTheNewData(t *testing.T) {
	inBubble(t, func(t *testing.T, server *zktest.Server) {
		makeNode(t, server, path, "other")
		client, _ := newClient(t, server)
		node := newNode(t, client, path, "1")
		started := startSoon(t, node)
		set := setSoon(t.Context(), node, "2")
		wantPending(t, set)
		deleteNode(t, server, path)
		wantErr(t, <-started)
		wantErr(t, <-set)
		wantThere(t, server, client, node, "2")
	})
}

func TestSetWhileStartFailsFails(t *testing.T) {
	inBubble(t, func(t *testing.T, server *zktest.Server) {
		makeNode(t, server, path, "other")
		client, _ := newClient(t, server)
		node := newNode(t, client, path, "1")
		failed := make(chan error, 1)
		ctx := within(t, time.Minute)
		go func() { failed <- node.Start(ctx) }()
		synctest.Wait()
		wantErr(t, node.Set(within(t, time.Hour), []byte("2")), nodes.ErrNotStarted)
		wantErr(t, <-failed, nodes.ErrForeign)
		deleteNode(t, server, path)
		wantErr(t, node.Start(t.Context()))
		wantThere(t, server, client, node, "2")
	})
}

func TestSetInAnOutageEndsWithItsContextAndIsWrittenLater(t *testing.T) {
	inBubble(t, func(t *testing.T, server *zktest.Server) {
		client, link := newClient(t, server)
		node := start(t, client, path, "1")
		link.Cut()
		wantErr(t, node.Set(within(t, time.Second), []byte("2")), context.DeadlineExceeded)
		wantNode(t, server, path, "1", sessionOfServer(t, server))
		link.Heal()
		time.Sleep(5 * time.Second)
		wantThere(t, server, client, node, "2")
	})
}

func sessionOfServer(t *testing.T, server *zktest.Server) int64 {
	t.Helper()
	all := server.Sessions()
	if len(all) != 1 {
		t.Fatalf("got %d sessions, want 1", len(all))
	}
	return all[0].ID
}

func TestSetWhoseAnswerIsLostIsWrittenOnce(t *testing.T) {
	for name, fault := range map[string]func(server *zktest.Server){
		"request": func(server *zktest.Server) { server.DropRequest(zktest.Match{Op: zktest.OpSetData}) },
		"answer":  func(server *zktest.Server) { server.DropReply(zktest.Match{Op: zktest.OpSetData}) },
	} {
		t.Run(name, func(t *testing.T) {
			inBubble(t, func(t *testing.T, server *zktest.Server) {
				client, _ := newClient(t, server)
				node := start(t, client, path, "1")
				executed := record(t, server, path)
				fault(server)
				wantErr(t, node.Set(t.Context(), []byte("2")))
				executed.want(t, "DataSet=2")
				wantThere(t, server, client, node, "2")
			})
		})
	}
}

// Set returns what the server said. The keeper tries again.
func TestSetThatAnOverloadedServerRefusesIsWrittenAllTheSame(t *testing.T) {
	inBubble(t, func(t *testing.T, server *zktest.Server) {
		client, _ := newClient(t, server)
		node := start(t, client, path, "1")
		for i := range 2 { // the second try comes without a pause, and could succeed before Set sees the first one's answer
			server.ThrottleRequest(zktest.Match{Op: zktest.OpSetData, Nth: i + 1})
		}
		wantSomeErr(t, node.Set(t.Context(), []byte("2")))
		time.Sleep(2 * time.Second)
		wantThere(t, server, client, node, "2")
	})
}

func TestDataThatAreTooLargeAreRefusedAndThoseBeforeStayForLaterNodes(t *testing.T) {
	inBubble(t, func(t *testing.T, server *zktest.Server) {
		client, _ := newClient(t, server, framework.WithMaxRequest(4096))
		node := start(t, client, path, "0")
		wantErr(t, node.Set(t.Context(), []byte("1")))
		tooLarge := strings.Repeat("x", 5000)
		wantErr(t, node.Set(t.Context(), []byte(tooLarge)), framework.ErrTooLarge)
		first, second := setSoon(t.Context(), node, tooLarge), setSoon(t.Context(), node, tooLarge)
		wantErr(t, <-first, framework.ErrTooLarge)
		wantErr(t, <-second, framework.ErrTooLarge)
		time.Sleep(2 * time.Second)
		wantThere(t, server, client, node, "1")
		expire(t, server, client)
		wantThere(t, server, client, node, "1")
		wantErr(t, node.Set(t.Context(), []byte("2")))
		wantThere(t, server, client, node, "2")
	})
}

func TestStartWithDataThatAreTooLargeFailsAndNothingRemains(t *testing.T) {
	inBubble(t, func(t *testing.T, server *zktest.Server) {
		client, _ := newClient(t, server, framework.WithMaxRequest(4096))
		node := newNode(t, client, path, strings.Repeat("x", 5000))
		wantErr(t, node.Start(t.Context()), framework.ErrTooLarge)
		wantNode(t, server, path, "", 0)
	})
}

func TestSetWithoutPermissionFailsAndIsWrittenOnceItIsGiven(t *testing.T) {
	inBubble(t, func(t *testing.T, server *zktest.Server) {
		client, _ := newClient(t, server)
		node := start(t, client, path, "1")
		wantErr(t, server.SetACL(path, zktest.ACL{Perms: 1, Scheme: "world", ID: "anyone"}))
		wantErr(t, node.Set(t.Context(), []byte("2")), zk.ErrNoAuth)
		wantErr(t, node.Err(), zk.ErrNoAuth)
		wantErr(t, server.SetACL(path, zktest.ACL{Perms: 31, Scheme: "world", ID: "anyone"}))
		time.Sleep(2 * time.Second)
		wantThere(t, server, client, node, "2")
	})
}

func TestDataThatOthersWriteStayUntilTheNextSetOrNode(t *testing.T) {
	inBubble(t, func(t *testing.T, server *zktest.Server) {
		client, link := newClient(t, server)
		node := start(t, client, path, "1")
		wantErr(t, server.SetData(path, []byte("other")))
		link.Reset()
		time.Sleep(time.Hour)
		wantThere(t, server, client, node, "other")
		wantErr(t, node.Set(t.Context(), []byte("2")))
		wantThere(t, server, client, node, "2")
		wantErr(t, server.SetData(path, []byte("other")))
		expire(t, server, client)
		wantThere(t, server, client, node, "2")
	})
}

func TestDataThatOthersWriteBetweenLookAndWriteAreReplaced(t *testing.T) {
	inBubble(t, func(t *testing.T, server *zktest.Server) {
		client, _ := newClient(t, server)
		node := start(t, client, path, "1")
		times := 3
		t.Cleanup(server.Observe(func(request zktest.Request) {
			if request.Op == zktest.OpSetData && times > 0 {
				times--
				_ = server.SetData(path, []byte("other"))
			}
		}))
		wantErr(t, node.Set(t.Context(), []byte("2")))
		wantThere(t, server, client, node, "2")
	})
}

// The answer to a write is lost, and its data are set back. The server executes the write late, and finds another
// version.
func TestAWriteThatIsExecutedLateDoesNotUndoALaterSet(t *testing.T) {
	inBubble(t, func(t *testing.T, server *zktest.Server) {
		client, _ := newClient(t, server)
		node := start(t, client, path, "1")
		proceed := server.Stall(zktest.Match{Op: zktest.OpSetData})
		wantErr(t, node.Set(within(t, 100*time.Millisecond), []byte("2")), context.DeadlineExceeded)
		server.CutAll()
		wantErr(t, node.Set(t.Context(), []byte("1")))
		proceed()
		time.Sleep(time.Minute)
		wantThere(t, server, client, node, "1")
		executed := record(t, server, path)
		wantErr(t, node.Set(t.Context(), []byte("1")))
		executed.want(t)
	})
}
