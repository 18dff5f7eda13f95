package framework_test

import (
	"context"
	"net"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-zookeeper/zk"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/framework/internal/clienttest"
	"github.com/gocurator/curator/framework/zktest"
)

func TestEnterTakesOneRoundTripAndMakesTheParentsFirst(t *testing.T) {
	bubble(t, func(t *testing.T, w *env) {
		s := w.Session()
		if _, err := s.CreateProtected(t.Context(), "/locks/one", "lock-", nil); err != nil {
			t.Fatal(err)
		}
		w.Link.SetLatency(time.Second)
		before := time.Now()
		entry, err := s.CreateProtected(t.Context(), "/locks/one", "lock-", []byte("me"))
		if err != nil {
			t.Fatal(err)
		}
		if d := time.Since(before); d != 2*time.Second {
			t.Errorf("it took %v", d)
		}
		name := regexp.MustCompile(`^/locks/one/_c_[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}-lock-0000000001$`)
		if !name.MatchString(entry.Path) || entry.Stat.EphemeralOwner != s.ID() {
			t.Errorf("entered as %s, %+v", entry.Path, entry.Stat)
		}
		if len(entry.Children) != 2 || !slices.Contains(entry.Children, strings.TrimPrefix(entry.Path, "/locks/one/")) {
			t.Errorf("listed %q", entry.Children)
		}
	})
}

func TestEnterMakesOneNodeWhateverIsLost(t *testing.T) {
	for name, fault := range map[string]func(w *env){
		"the create":  func(w *env) { w.Server.DropRequest(zktest.Match{Op: zktest.OpCreate2}) },
		"its answer":  func(w *env) { w.Server.DropReply(zktest.Match{Op: zktest.OpCreate2, Path: "/locks/*"}) },
		"the listing": func(w *env) { w.Server.DropReply(zktest.Match{Op: zktest.OpGetChildren2}) },
		"the answer, the search": func(w *env) {
			w.Server.DropReply(zktest.Match{Op: zktest.OpCreate2})
			w.Server.DropReply(zktest.Match{Op: zktest.OpSync})
		},
		"the parent": func(w *env) { w.Server.DropReply(zktest.Match{Op: zktest.OpCreateContainer}) },
	} {
		t.Run(name, func(t *testing.T) {
			bubble(t, func(t *testing.T, w *env) {
				fault(w)
				entry, err := w.Session().CreateProtected(t.Context(), "/locks", "lock-", nil)
				if err != nil {
					t.Fatal(err)
				}
				if got := w.Server.Children("/locks"); len(got) != 1 || "/locks/"+got[0] != entry.Path {
					t.Errorf("entered as %s, and there is %q", entry.Path, got)
				}
			})
		})
	}
}

func TestAnEnterThatIsGivenUpLeavesNoNode(t *testing.T) {
	for name, after := range map[string]func(w *env){
		"answered later":   func(*env) {},
		"connection broke": func(w *env) { w.Link.Reset() },
	} {
		t.Run(name, func(t *testing.T) {
			bubble(t, func(t *testing.T, w *env) {
				w.make("/locks")
				w.Server.DelayReply(zktest.Match{Op: zktest.OpCreate2}, 2*time.Second)
				_, err := w.Session().CreateProtected(w.Within(time.Second), "/locks", "lock-", nil)
				wantErr(t, err, context.DeadlineExceeded)
				after(w)
				time.Sleep(5 * time.Second)
				synctest.Wait()
				if got := w.Server.Children("/locks"); len(got) != 0 {
					t.Errorf("%q is left", got)
				}
			})
		})
	}
}

func TestEnterEndsWithItsSession(t *testing.T) {
	bubble(t, func(t *testing.T, w *env) {
		s := w.Session()
		w.Link.Cut()
		_, err := s.CreateProtected(t.Context(), "/locks", "lock-", nil)
		wantErr(t, err, framework.ErrSessionLost)
	})
}

func TestARemovalIsAskedForOnEveryConnection(t *testing.T) {
	bubble(t, func(t *testing.T, w *env) {
		s := w.Session()
		path := w.Create("/e", framework.WithMode(framework.Ephemeral))
		w.Server.DropRequest(zktest.Match{Op: zktest.OpDelete, Nth: 1})
		w.Server.DropRequest(zktest.Match{Op: zktest.OpDelete, Nth: 2})
		r := s.Remove(path)
		if same := s.Remove(path); same != r {
			t.Error("it is under way twice")
		}
		<-r.Done()
		if r.Err() != nil || w.Server.Exists(path) {
			t.Errorf("error %v, there: %v", r.Err(), w.Server.Exists(path))
		}
		again := s.Remove(path)
		<-again.Done()
		if again.Err() != nil {
			t.Errorf("a node that is gone: %v", again.Err())
		}
	})
}

func TestARemovalEndsWithItsSession(t *testing.T) {
	bubble(t, func(t *testing.T, w *env) {
		s := w.Session()
		path := w.Create("/e", framework.WithMode(framework.Ephemeral))
		w.Link.Cut()
		time.Sleep(time.Second)
		r := s.Remove(path)
		<-r.Done()
		wantErr(t, r.Err(), framework.ErrSessionLost)
		late := s.Remove(path)
		<-late.Done()
		wantErr(t, late.Err(), framework.ErrSessionLost)
		w.Link.Heal()
		w.Eventually("gone with its session", func() bool { return !w.Server.Exists(path) })
	})
}

func TestARemovalThatIsRefusedSaysSo(t *testing.T) {
	bubble(t, func(t *testing.T, w *env) {
		w.make("/a")
		w.make("/a/b")
		r := w.Session().Remove("/a")
		<-r.Done()
		wantErr(t, r.Err(), zk.ErrNotEmpty)
	})
}

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
		w.Eventually("lost", func() bool { return w.States.Has(lost) })
		w.Link.Heal()
		w.Eventually("a new session", func() bool { return w.Client.State() == reconnected })
		wg.Wait()
		time.Sleep(time.Minute)
		if w.Server.Exists("/locks") {
			t.Error("it was entered all the same")
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
		w.States.Want(t, connected, suspended, lost)
		err := w.Client.BlockUntilConnected(w.Within(time.Second))
		if err == nil || !strings.Contains(err.Error(), "older than what this client has seen") {
			t.Errorf("got %v", err)
		}
	})
}

// A client that the ensemble lets in must find the binding of the one before ended, also if that one's server has lost its leader
// and goes on answering.
func TestAFollowerThatIsCutOffDoesNotKeepAHoldAlive(t *testing.T) {
	zktest.Bubble(t, func(t *testing.T) {
		ens := zktest.NewEnsemble(3, zktest.WithSyncLimit(time.Hour), zktest.WithTickTime(clienttest.SessionTimeout/3))
		t.Cleanup(func() { ens.Close() })
		follower := ens.Server(1)
		w := &env{&clienttest.Env{T: t, Server: ens.Leader(), Link: follower.NewLink(), States: &clienttest.States{}}}
		w.Client = w.Dial("zk:2181", framework.WithStateListener(w.States.Hear))
		w.Connected()
		s := w.Session()
		w.Create("/held", framework.WithMode(framework.Ephemeral))
		h := w.hold()
		time.Sleep(3*clienttest.SessionTimeout + 700*time.Millisecond)
		ens.Isolate(1)
		go func() { // traffic that the follower answers by itself
			for !h.ended() {
				_, _ = s.Exists(w.Context(), "/")
				time.Sleep(100 * time.Millisecond)
			}
		}()
		for ens.Leader().Exists("/held") {
			time.Sleep(10 * time.Millisecond)
		}
		if !h.ended() || h.Err() == nil {
			t.Error("the node has gone at the leader, and the hold has not ended")
		}
		ens.Rejoin(1)
	})
}

func TestTheSmallerOfTwoGrantedTimeoutsCounts(t *testing.T) {
	bubble(t, func(t *testing.T, w *env) {
		stranger := zktest.NewServer(zktest.WithSessionTimeouts(time.Second, clienttest.SessionTimeout/2))
		t.Cleanup(func() { stranger.Close() })
		client := w.Dial("zk:2181", framework.WithDialer(stranger.NewLink().DialContext))
		s, err := client.Session(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if left := time.Until(s.ValidUntil()); left > clienttest.SessionTimeout/2 {
			t.Errorf("a timeout of %v was granted, and the session is valid for %v", clienttest.SessionTimeout/2, left)
		}
	})
}
