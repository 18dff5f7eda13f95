package live_test

import (
	"context"
	"errors"
	"net"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/go-zookeeper/zk"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/framework/internal/clienttest"
	"github.com/gocurator/curator/framework/zktest"
)

func TestASessionsReadsAreNotRetried(t *testing.T) {
	bubble(t, func(t *testing.T, w *env) {
		s := w.Session()
		w.Server.DropRequest(zktest.Match{Op: zktest.OpGetChildren2})
		_, _, err := s.Children(t.Context(), "/")
		wantErr(t, err, framework.ErrConnectionLost)
		// Without a connection it is the same to the caller.
		_, err = s.Exists(t.Context(), "/")
		wantErr(t, err, framework.ErrConnectionLost)
		if _, err := s.List(t.Context(), "/"); err != nil {
			t.Errorf("List: %v", err)
		}
		w.Server.ExpireSession(s.ID())
		<-s.Done()
		_, _, err = s.Get(t.Context(), "/")
		wantErr(t, err, framework.ErrSessionLost)
		_, err = s.List(t.Context(), "/")
		wantErr(t, err, framework.ErrSessionLost)
	})
}

func TestNothingAskedForInOneSessionIsDoneInTheNext(t *testing.T) {
	bubble(t, func(t *testing.T, w *env) {
		s := w.Session()
		w.Link.Cut()
		var wg sync.WaitGroup
		wg.Go(func() {
			_, err := s.CreateProtected(t.Context(), "/locks", "lock-", nil)
			wantErr(t, err, framework.ErrSessionLost)
		})
		w.Eventually("lost", func() bool { return w.States.Has(framework.StateLost) })
		w.Link.Heal()
		w.Eventually("a new session", func() bool { return w.Client.State() == framework.StateReconnected })
		wg.Wait()
		time.Sleep(time.Minute)
		if w.Server.Exists("/locks") {
			t.Error("got /locks, want nothing created")
		}
	})
}

func TestTheNextSessionIsNotOpenedByAServerThatIsBehind(t *testing.T) {
	zktest.Bubble(t, func(t *testing.T) {
		ahead, behind := zktest.NewServer(), zktest.NewServer()
		t.Cleanup(func() { ahead.Close(); behind.Close() })
		w := &env{&clienttest.Env{T: t, Server: ahead, States: &clienttest.States{}}}
		w.Link = ahead.NewLink()
		old := behind.NewLink()
		first := w.Link.DialContext
		w.Client = w.Dial("zk:2181,other:2181", framework.WithStateListener(w.States.Hear), framework.WithDialer(
			func(ctx context.Context, network, address string) (net.Conn, error) {
				if c, err := first(ctx, network, address); err == nil || address == "other:2181" {
					return c, err
				}
				return old.DialContext(ctx, network, address)
			}))
		w.Connected()
		for range 200 {
			w.Create("/n-", framework.WithMode(framework.PersistentSequential))
		}
		w.Link.Cut()
		time.Sleep(5 * clienttest.SessionTimeout)
		if n := len(behind.Sessions()); n > 1 || behind.Counts()[zktest.OpCreate2] > 0 { // one is that of a question
			t.Errorf("%d sessions at the server that is behind", n)
		}
		w.States.Want(t, framework.StateConnected, framework.StateSuspended, framework.StateLost)
		err := w.Client.BlockUntilConnected(w.Within(time.Second))
		if err == nil || !strings.Contains(err.Error(), "older than what this client has seen") {
			t.Errorf("got %v", err)
		}
	})
}

// A client that the ensemble lets in must find the binding of the one before ended, also if that one's server has lost
// its leader and goes on answering.
func TestAFollowerThatIsCutOffDoesNotKeepABindingAlive(t *testing.T) {
	zktest.Bubble(t, func(t *testing.T) {
		ens := zktest.NewEnsemble(3, zktest.WithSyncLimit(time.Hour), zktest.WithTickTime(clienttest.SessionTimeout/3))
		t.Cleanup(func() { ens.Close() })
		follower := ens.Server(1)
		w := &env{&clienttest.Env{T: t, Server: ens.Leader(), Link: follower.NewLink(), States: &clienttest.States{}}}
		w.Client = w.Dial("zk:2181", framework.WithStateListener(w.States.Hear))
		w.Connected()
		s := w.Session()
		w.Create("/held", framework.WithMode(framework.Ephemeral))
		h := w.Bind()
		time.Sleep(3*clienttest.SessionTimeout + 700*time.Millisecond)
		ens.Isolate(1)
		go func() { // traffic that the follower answers by itself
			for !h.Ended() {
				_, _ = s.Exists(w.Context(), "/")
				time.Sleep(100 * time.Millisecond)
			}
		}()
		for ens.Leader().Exists("/held") {
			time.Sleep(10 * time.Millisecond)
		}
		if !h.Ended() || h.Err() == nil {
			t.Errorf("got a binding that lasts (error %v) although its node has gone at the leader, want it ended",
				h.Err())
		}
		ens.Rejoin(1)
	})
}

// In each row the client reconnects, or its session ends and the next one begins, at a server with these limits.
func TestAClientAsksForNoMoreThanAnyServerHasGranted(t *testing.T) {
	bubble(t, func(t *testing.T, w *env) { // asks for 12 s
		for i, c := range []struct {
			least, most, goesBy, server int // seconds; the client goes by goesBy
			ends                        bool
		}{
			{least: 1, most: 20, ends: true, goesBy: 12, server: 12},
			{least: 15, most: 20, goesBy: 12, server: 15},
			{least: 15, most: 20, ends: true, goesBy: 15, server: 15},
			{least: 1, most: 20, goesBy: 15, server: 15},
			{least: 1, most: 20, ends: true, goesBy: 12, server: 12},
			{least: 1, most: 8, goesBy: 8, server: 8},
			{least: 1, most: 10, goesBy: 8, server: 8},
			{least: 1, most: 20, ends: true, goesBy: 8, server: 8},
			{least: 1, most: 4, ends: true, goesBy: 4, server: 4},
			{least: 30, most: 60, goesBy: 4, server: 30},
			{least: 1, most: 60, ends: true, goesBy: 4, server: 4},
		} {
			before := w.Session()
			w.Server.SetSessionTimeouts(time.Duration(c.least)*time.Second, time.Duration(c.most)*time.Second)
			if c.ends {
				w.Server.ExpireSession(before.ID())
				<-before.Done()
			}
			w.Link.Reset()
			time.Sleep(time.Second)
			s, states := w.Session(), len(w.States.All())
			time.Sleep(5 * clienttest.SessionTimeout)
			if len(w.States.All()) != states {
				t.Errorf("row %d: the idle connection broke: %v", i, w.States.All())
			}
			goesBy, server := int(s.Timeout().Seconds()), int(w.Server.Sessions()[0].Timeout.Seconds())
			if goesBy != c.goesBy || server != c.server || s.Err() != nil || (s.ID() == before.ID()) == c.ends {
				t.Errorf("row %d: the client goes by %d s and the server by %d s, want %d and %d and a session that lasts (%v)",
					i, goesBy, server, c.goesBy, c.server, s.Err())
			}
		}
	})
}

func TestASessionsExistsAndChildrenMeanWhatTheClientsDo(t *testing.T) {
	bubble(t, func(t *testing.T, w *env) {
		s := w.Session()
		if stat, err := s.Exists(t.Context(), "/missing"); stat != nil || err != nil {
			t.Errorf("Exists of a missing node: got %v, %v, want nil, nil", stat, err)
		}
		if _, _, err := s.Children(t.Context(), "/missing"); !errors.Is(err, zk.ErrNoNode) {
			t.Errorf("Children of a missing node: got %v, want %v", err, zk.ErrNoNode)
		}
		w.Create("/a")
		w.Create("/a/b")
		children, stat, err := s.Children(t.Context(), "/a")
		if err != nil || len(children) != 1 || stat == nil || stat.NumChildren != 1 {
			t.Errorf("Children: got %v, %+v, %v", children, stat, err)
		}
	})
}
