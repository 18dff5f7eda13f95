package live_test

import (
	"context"
	"fmt"
	"net"
	"slices"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/framework/internal/clienttest"
	"github.com/gocurator/curator/framework/zktest"
)

// createAtLate has a server execute the first try of CreateAt late, when goOn is called: the session has moved to
// another connection, and the second try has made the node.
func createAtLate(t *testing.T, w *env, path string) (goOn func()) {
	t.Helper()
	goOn = w.Server.Stall(zktest.Match{Op: zktest.OpCreate2, Path: path})
	created := make(chan error, 1)
	go func() { created <- w.Session().CreateAt(t.Context(), path, nil, nil) }()
	synctest.Wait()
	w.Server.CutSession(w.Session().ID())
	wantErr(t, <-created)
	if !w.Server.Exists(path) {
		t.Fatalf("got no %s, the test needs one", path)
	}
	return goOn
}

// Removal and looks see the node of the second try first. The first try is still to come.
func TestANodeOfCreateAtThatIsCreatedAfterItsRemovalIsRemoved(t *testing.T) {
	const timeout = clienttest.SessionTimeout
	for _, late := range []time.Duration{0, timeout / 20, timeout / 5, timeout / 2, 2 * timeout, 4*timeout - time.Second} {
		t.Run(fmt.Sprint(late), func(t *testing.T) {
			bubble(t, func(t *testing.T, w *env) {
				w.Link.SetLatency(time.Millisecond)
				s := w.Session()
				goOn := createAtLate(t, w, "/a")
				r := s.RemoveAt("/a")
				<-r.Done()
				wantErr(t, r.Err())
				time.Sleep(late)
				if w.Server.Exists("/a") {
					t.Fatal("got the node of the second try, want it removed")
				}
				goOn()
				synctest.Wait()
				if !w.Server.Exists("/a") {
					t.Fatal("got no node, the test needs one that is created late")
				}
				time.Sleep(5 * timeout)
				if w.Server.Exists("/a") || s.Err() != nil {
					t.Errorf("got node %t, session error %v; want neither", w.Server.Exists("/a"), s.Err())
				}
			})
		})
	}
}

// Each of two lost tries may come late, one after the other.
func TestTwoNodesOfCreateAtThatAreCreatedLateAreRemoved(t *testing.T) {
	const timeout = clienttest.SessionTimeout
	bubble(t, func(t *testing.T, w *env) {
		s := w.Session()
		first := w.Server.Stall(zktest.Match{Op: zktest.OpCreate2, Nth: 1})
		second := w.Server.Stall(zktest.Match{Op: zktest.OpCreate2, Nth: 2})
		created := make(chan error, 1)
		go func() { created <- s.CreateAt(w.Within(time.Minute), "/a", nil, nil) }()
		for range 2 {
			synctest.Wait()
			w.Server.CutSession(s.ID())
			w.Connected()
		}
		wantErr(t, <-created)
		<-s.RemoveAt("/a").Done()
		for i, goOn := range []func(){first, second} {
			goOn()
			synctest.Wait()
			if !w.Server.Exists("/a") {
				t.Fatalf("got no node of try %d, the test needs one that is created late", i+1)
			}
			time.Sleep(timeout + 100*time.Millisecond) // not at the moment of a look
			if w.Server.Exists("/a") {
				t.Error("got a node, want the late one removed")
			}
		}
	})
}

// A CreateAt takes the path over from the looks for a late node of the one before, which may still come when the second
// is over, too.
func TestALateNodeOfACreateAtIsRemovedAlsoAfterASecondOneOfItsPath(t *testing.T) {
	bubble(t, func(t *testing.T, w *env) {
		s := w.Session()
		goOn := createAtLate(t, w, "/a")
		<-s.RemoveAt("/a").Done()
		wantErr(t, s.CreateAt(t.Context(), "/a", nil, nil))
		<-s.RemoveAt("/a").Done()
		goOn()
		synctest.Wait()
		if !w.Server.Exists("/a") {
			t.Fatal("got no node, the test needs one that is created late")
		}
		time.Sleep(5 * clienttest.SessionTimeout)
		if w.Server.Exists("/a") || s.Err() != nil {
			t.Errorf("got node %t, session error %v; want neither", w.Server.Exists("/a"), s.Err())
		}
	})
}

// A look for a late node must not remove the one that CreateAt makes again, nor one that it finds.
func TestALookForALateNodeLeavesTheNodeOfALaterCreateAt(t *testing.T) {
	for name, before := range map[string]bool{"it comes before": true, "it comes after": false} {
		t.Run(name, func(t *testing.T) {
			bubble(t, func(t *testing.T, w *env) {
				w.Link.SetLatency(time.Millisecond)
				s := w.Session()
				goOn := createAtLate(t, w, "/a")
				<-s.RemoveAt("/a").Done()
				if before {
					goOn()
					synctest.Wait()
				}
				wantErr(t, s.CreateAt(t.Context(), "/a", nil, nil))
				goOn()
				for range 10 * 16 {
					if stat, there := w.Server.Stat("/a"); !there || stat.EphemeralOwner != s.ID() {
						t.Fatal("got no node, want it to stay")
					}
					time.Sleep(clienttest.SessionTimeout / 16)
				}
				<-s.RemoveAt("/a").Done()
				if w.Server.Exists("/a") {
					t.Error("got a node after its removal, want none")
				}
			})
		})
	}
}

// A twoServers is a client at a leader, which goes on at a follower that lags when the leader refuses it.
type twoServers struct {
	leader, follower *zktest.Server
	session          framework.Session
	moved            atomic.Bool  // to the follower
	refusals         atomic.Int32 // how many transactions the follower cannot take just then
}

func lagging(t *testing.T, lag time.Duration) *twoServers {
	t.Helper()
	ensemble := zktest.NewEnsemble(2)
	t.Cleanup(func() { _ = ensemble.Close() })
	e := &twoServers{leader: ensemble.Server(0), follower: ensemble.Server(1)}
	client := connect(t, e.leader, framework.WithDialer(func(ctx context.Context, network, address string) (net.Conn, error) {
		conn, err := e.leader.DialContext(ctx, network, address)
		if err == nil {
			return conn, nil
		}
		conn, err = e.follower.DialContext(ctx, network, address)
		if err != nil {
			return nil, err
		}
		e.moved.Store(true)
		return refusing(conn, zktest.OpMulti, &e.refusals), nil
	}))
	e.session = enterable(t, client)
	ensemble.SetLag(1, lag)
	return e
}

// The follower still shows the node that is deleted already. To delete what it shows would delete the successor's.
func TestRemoveAtLeavesASuccessorsNodeAfterItsAnswerIsLostAndTheNextServerIsBehind(t *testing.T) {
	zktest.Bubble(t, func(t *testing.T) {
		e := lagging(t, 5*time.Second)
		wantErr(t, e.session.CreateAt(t.Context(), "/a", nil, nil))
		time.Sleep(6 * time.Second) // the follower has it
		e.leader.DropReply(zktest.Match{Op: zktest.OpDelete})
		e.leader.RefuseConnections(true)
		e.follower.RefuseConnections(true)
		r := e.session.RemoveAt("/a")
		for e.leader.Exists("/a") {
			time.Sleep(time.Microsecond)
		}
		must(t, e.leader.Create("/a", nil))
		e.follower.RefuseConnections(false)
		<-r.Done()
		wantErr(t, r.Err())
		time.Sleep(time.Minute)
		if !e.moved.Load() || !e.leader.Exists("/a") || e.session.Err() != nil {
			t.Errorf("got node %t, session error %v; want the successor's, and none", e.leader.Exists("/a"), e.session.Err())
		}
	})
}

// The answer to the create is lost, and the follower does not have the node yet. Behind a transaction that it refuses,
// its answer proves nothing.
func TestRemoveAtIsDoneOnlyWhenTheNodeIsGoneAtAServerThatIsBehind(t *testing.T) {
	for name, refusals := range map[string]int32{"it catches up": 0, "it refuses to at first": 3} {
		t.Run(name, func(t *testing.T) {
			zktest.Bubble(t, func(t *testing.T) {
				e := lagging(t, 5*time.Second)
				e.refusals.Store(refusals)
				e.leader.DropReply(zktest.Match{Op: zktest.OpCreate2})
				e.leader.RefuseConnections(true)
				e.follower.RefuseConnections(true)
				soon, cancel := context.WithTimeout(t.Context(), time.Second)
				defer cancel()
				wantErr(t, e.session.CreateAt(soon, "/a", nil, nil), context.DeadlineExceeded)
				if e.follower.Exists("/a") || !e.leader.Exists("/a") {
					t.Fatal("the test needs a node that the follower lacks")
				}
				e.follower.RefuseConnections(false)
				r := e.session.RemoveAt("/a")
				<-r.Done()
				wantErr(t, r.Err())
				if !e.moved.Load() || e.refusals.Load() > 0 || e.leader.Exists("/a") || e.session.Err() != nil {
					t.Errorf("got node %t, %d refusals left, session error %v; want none of them",
						e.leader.Exists("/a"), e.refusals.Load(), e.session.Err())
				}
			})
		})
	}
}

// The look must see what an earlier connection has asked for. Once is enough.
func TestRemoveAtOfAPathWhoseCreateWasLostLooksBehindATransaction(t *testing.T) {
	bubble(t, func(t *testing.T, w *env) {
		s := w.Session()
		w.Server.DropReply(zktest.Match{Op: zktest.OpCreate2})
		wantErr(t, s.CreateAt(t.Context(), "/a", nil, nil))
		for _, want := range [][]string{{"multi /", "exists /a", "delete /a"}, {"exists /a"}} {
			seen := w.observe()
			<-s.RemoveAt("/a").Done()
			if !slices.Equal(seen.all, want) {
				t.Errorf("got the requests %q, want %q", seen.all, want)
			}
		}
	})
}
