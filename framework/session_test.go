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
	"github.com/gocurator/curator/framework/zktest"
)

func TestEnterTakesOneRoundTripAndMakesTheParentsFirst(t *testing.T) {
	bubble(t, func(t *testing.T, w *world) {
		s := w.session()
		if _, err := s.CreateProtected(t.Context(), "/locks/one", "lock-", nil); err != nil {
			t.Fatal(err)
		}
		w.link.SetLatency(time.Second)
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
	for name, fault := range map[string]func(w *world){
		"the create":  func(w *world) { w.srv.DropRequest(zktest.Match{Op: zktest.OpCreate2}) },
		"its answer":  func(w *world) { w.srv.DropReply(zktest.Match{Op: zktest.OpCreate2, Path: "/locks/*"}) },
		"the listing": func(w *world) { w.srv.DropReply(zktest.Match{Op: zktest.OpGetChildren2}) },
		"the answer, the search": func(w *world) {
			w.srv.DropReply(zktest.Match{Op: zktest.OpCreate2})
			w.srv.DropReply(zktest.Match{Op: zktest.OpSync})
		},
		"the parent": func(w *world) { w.srv.DropReply(zktest.Match{Op: zktest.OpCreateContainer}) },
	} {
		t.Run(name, func(t *testing.T) {
			bubble(t, func(t *testing.T, w *world) {
				fault(w)
				entry, err := w.session().CreateProtected(t.Context(), "/locks", "lock-", nil)
				if err != nil {
					t.Fatal(err)
				}
				if got := w.srv.Children("/locks"); len(got) != 1 || "/locks/"+got[0] != entry.Path {
					t.Errorf("entered as %s, and there is %q", entry.Path, got)
				}
			})
		})
	}
}

func TestAnEnterThatIsGivenUpLeavesNoNode(t *testing.T) {
	for name, after := range map[string]func(w *world){
		"answered later":   func(*world) {},
		"connection broke": func(w *world) { w.link.Reset() },
	} {
		t.Run(name, func(t *testing.T) {
			bubble(t, func(t *testing.T, w *world) {
				w.make("/locks")
				w.srv.DelayReply(zktest.Match{Op: zktest.OpCreate2}, 2*time.Second)
				_, err := w.session().CreateProtected(w.within(time.Second), "/locks", "lock-", nil)
				wantErr(t, err, context.DeadlineExceeded)
				after(w)
				time.Sleep(5 * time.Second)
				synctest.Wait()
				if got := w.srv.Children("/locks"); len(got) != 0 {
					t.Errorf("%q is left", got)
				}
			})
		})
	}
}

func TestEnterEndsWithItsSession(t *testing.T) {
	bubble(t, func(t *testing.T, w *world) {
		s := w.session()
		w.link.Cut()
		_, err := s.CreateProtected(t.Context(), "/locks", "lock-", nil)
		wantErr(t, err, framework.ErrSessionLost)
	})
}

func TestARemovalIsAskedForOnEveryConnection(t *testing.T) {
	bubble(t, func(t *testing.T, w *world) {
		s := w.session()
		path := w.create("/e", framework.WithMode(framework.Ephemeral))
		w.srv.DropRequest(zktest.Match{Op: zktest.OpDelete, Nth: 1})
		w.srv.DropRequest(zktest.Match{Op: zktest.OpDelete, Nth: 2})
		r := s.Remove(path)
		if same := s.Remove(path); same != r {
			t.Error("it is under way twice")
		}
		<-r.Done()
		if r.Err() != nil || w.srv.Exists(path) {
			t.Errorf("error %v, there: %v", r.Err(), w.srv.Exists(path))
		}
		again := s.Remove(path)
		<-again.Done()
		if again.Err() != nil {
			t.Errorf("a node that is gone: %v", again.Err())
		}
	})
}

func TestARemovalEndsWithItsSession(t *testing.T) {
	bubble(t, func(t *testing.T, w *world) {
		s := w.session()
		path := w.create("/e", framework.WithMode(framework.Ephemeral))
		w.link.Cut()
		time.Sleep(time.Second)
		r := s.Remove(path)
		<-r.Done()
		wantErr(t, r.Err(), framework.ErrSessionLost)
		late := s.Remove(path)
		<-late.Done()
		wantErr(t, late.Err(), framework.ErrSessionLost)
		w.link.Heal()
		w.eventually("gone with its session", func() bool { return !w.srv.Exists(path) })
	})
}

func TestARemovalThatIsRefusedSaysSo(t *testing.T) {
	bubble(t, func(t *testing.T, w *world) {
		w.make("/a")
		w.make("/a/b")
		r := w.session().Remove("/a")
		<-r.Done()
		wantErr(t, r.Err(), zk.ErrNotEmpty)
	})
}

func TestASessionsReadsAreNotRetried(t *testing.T) {
	bubble(t, func(t *testing.T, w *world) {
		s := w.session()
		w.srv.DropRequest(zktest.Match{Op: zktest.OpGetChildren2})
		_, _, err := s.Children(t.Context(), "/")
		wantErr(t, err, framework.ErrConnectionLost)
		// Without a connection it is the same to the caller.
		_, err = s.Exists(t.Context(), "/")
		wantErr(t, err, framework.ErrConnectionLost)
		if _, err := s.List(t.Context(), "/"); err != nil {
			t.Errorf("List: %v", err)
		}
		w.srv.ExpireSession(s.ID())
		<-s.Done()
		_, _, err = s.Get(t.Context(), "/")
		wantErr(t, err, framework.ErrSessionLost)
		_, err = s.List(t.Context(), "/")
		wantErr(t, err, framework.ErrSessionLost)
	})
}

func TestNothingAskedForInOneSessionIsDoneInTheNext(t *testing.T) {
	bubble(t, func(t *testing.T, w *world) {
		s := w.session()
		w.link.Cut()
		var wg sync.WaitGroup
		wg.Go(func() {
			_, err := s.CreateProtected(t.Context(), "/locks", "lock-", nil)
			wantErr(t, err, framework.ErrSessionLost)
		})
		w.eventually("lost", func() bool { return w.states.has(lost) })
		w.link.Heal()
		w.eventually("a new session", func() bool { return w.client.State() == reconnected })
		wg.Wait()
		time.Sleep(time.Minute)
		if w.srv.Exists("/locks") {
			t.Error("it was entered all the same")
		}
	})
}

func TestTheNextSessionIsNotOpenedByAServerThatIsBehind(t *testing.T) {
	zktest.Bubble(t, func(t *testing.T) {
		ahead, behind := zktest.NewServer(), zktest.NewServer()
		t.Cleanup(func() { ahead.Close(); behind.Close() })
		w := &world{T: t, srv: ahead, states: &states{}}
		w.link = ahead.NewLink()
		old := behind.NewLink()
		first := w.link.DialContext
		w.client = w.dial("zk:2181,other:2181", framework.WithStateListener(w.states.hear), framework.WithDialer(
			func(ctx context.Context, network, address string) (net.Conn, error) {
				if c, err := first(ctx, network, address); err == nil || address == "other:2181" {
					return c, err
				}
				return old.DialContext(ctx, network, address)
			}))
		w.connected()
		for range 200 {
			w.create("/n-", framework.WithMode(framework.PersistentSequential))
		}
		w.link.Cut()
		time.Sleep(5 * session)
		if n := len(behind.Sessions()); n > 1 || behind.Counts()[zktest.OpCreate2] > 0 { // one is that of a question
			t.Errorf("%d sessions at the server that is behind", n)
		}
		w.states.want(t, connected, suspended, lost)
		err := w.client.BlockUntilConnected(w.within(time.Second))
		if err == nil || !strings.Contains(err.Error(), "older than what this client has seen") {
			t.Errorf("got %v", err)
		}
	})
}

// A client that the ensemble lets in must find the binding of the one before ended, also if that one's server has lost its leader
// and goes on answering.
func TestAFollowerThatIsCutOffDoesNotKeepAHoldAlive(t *testing.T) {
	zktest.Bubble(t, func(t *testing.T) {
		ens := zktest.NewEnsemble(3, zktest.WithSyncLimit(time.Hour), zktest.WithTickTime(session/3))
		t.Cleanup(func() { ens.Close() })
		follower := ens.Server(1)
		w := &world{T: t, srv: ens.Leader(), link: follower.NewLink(), states: &states{}}
		w.client = w.dial("zk:2181", framework.WithStateListener(w.states.hear))
		w.connected()
		s := w.session()
		w.create("/held", framework.WithMode(framework.Ephemeral))
		h := w.hold()
		time.Sleep(3*session + 700*time.Millisecond)
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
	bubble(t, func(t *testing.T, w *world) {
		stranger := zktest.NewServer(zktest.WithSessionTimeouts(time.Second, session/2))
		t.Cleanup(func() { stranger.Close() })
		client := w.dial("zk:2181", framework.WithDialer(stranger.NewLink().DialContext))
		s, err := client.Session(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if left := time.Until(s.ValidUntil()); left > session/2 {
			t.Errorf("a timeout of %v was granted, and the session is valid for %v", session/2, left)
		}
	})
}
