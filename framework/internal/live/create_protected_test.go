package live_test

import (
	"context"
	"errors"
	"fmt"
	"net"
	"regexp"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-zookeeper/zk"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/framework/session"
	"github.com/gocurator/curator/framework/zktest"
)

// Each time the creation reaches the server, the directory has just been removed.
func TestCreateProtectedOutlastsADirectoryThatVanishesAgainAndAgain(t *testing.T) {
	bubble(t, func(t *testing.T, w *env) {
		child := zktest.Match{Op: zktest.OpCreate2, Path: "/locks/a/*"}
		proceed := w.Server.HoldRequest(child)
		var wg sync.WaitGroup
		var entry session.CreatedNode
		var err error
		ctx, cancel := context.WithTimeout(t.Context(), time.Hour)
		defer cancel()
		wg.Go(func() { entry, err = w.Session().CreateProtected(ctx, "/locks/a", "lock-", nil) })
		for range 50 {
			synctest.Wait()
			for _, dir := range []string{"/locks/a", "/locks"} {
				if w.Server.Exists(dir) {
					wantErr(t, w.Server.Delete(dir))
				}
			}
			next := w.Server.HoldRequest(child)
			proceed()
			proceed = next
			time.Sleep(time.Second)
		}
		proceed()
		wg.Wait()
		if err != nil || !w.Server.Exists(entry.Path) {
			t.Fatalf("got %v, %v", entry, err)
		}
		if n := w.Count(zktest.OpCreate2); n > 52 {
			t.Errorf("%d creations", n)
		}
	})
}

func TestCreateProtectedTakesOneRoundTripAndMakesTheParentsFirst(t *testing.T) {
	bubble(t, func(t *testing.T, w *env) {
		s := w.Session()
		if _, err := s.CreateProtected(t.Context(), "/locks/one", "lock-", nil); err != nil {
			t.Fatal(err)
		}
		w.Link.SetLatency(time.Second)
		before := time.Now()
		entry, err := s.CreateProtected(t.Context(), "/locks/one", "lock-", []byte("me"))
		must(t, err)
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

func TestCreateProtectedMakesOneNodeWhateverIsLost(t *testing.T) {
	for name, fault := range map[string]func(w *env){
		"the create":  func(w *env) { w.Server.DropRequest(zktest.Match{Op: zktest.OpCreate2}) },
		"its answer":  func(w *env) { w.Server.DropReply(zktest.Match{Op: zktest.OpCreate2, Path: "/locks/*"}) },
		"the listing": func(w *env) { w.Server.DropReply(zktest.Match{Op: zktest.OpGetChildren2}) },
		"the answer, the search": func(w *env) {
			w.Server.DropReply(zktest.Match{Op: zktest.OpCreate2})
			w.Server.DropReply(zktest.Match{Op: zktest.OpMulti})
		},
		"the parent": func(w *env) { w.Server.DropReply(zktest.Match{Op: zktest.OpCreateContainer}) },
	} {
		t.Run(name, func(t *testing.T) {
			bubble(t, func(t *testing.T, w *env) {
				fault(w)
				entry, err := w.Session().CreateProtected(t.Context(), "/locks", "lock-", nil)
				must(t, err)
				if got := w.Server.Children("/locks"); len(got) != 1 || "/locks/"+got[0] != entry.Path {
					t.Errorf("entered as %s, and there is %q", entry.Path, got)
				}
			})
		})
	}
}

func TestACreateProtectedThatIsGivenUpLeavesNoNode(t *testing.T) {
	for name, after := range map[string]func(w *env){
		"answered later":   func(*env) {},
		"connection broke": func(w *env) { w.Link.Reset() },
	} {
		t.Run(name, func(t *testing.T) {
			bubble(t, func(t *testing.T, w *env) {
				w.Make("/locks")
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

func TestCreateProtectedEndsWithItsSession(t *testing.T) {
	bubble(t, func(t *testing.T, w *env) {
		s := w.Session()
		w.Link.Cut()
		_, err := s.CreateProtected(t.Context(), "/locks", "lock-", nil)
		wantErr(t, err, framework.ErrSessionLost)
	})
}

// The parent's creation is on its way when the session ends: what ended it is the error, not the connection that went
// with it.
func TestCreateProtectedEndsWithTheSessionsErrorWhileItMakesParents(t *testing.T) {
	bubble(t, func(t *testing.T, w *env) {
		s := w.Session()
		release := w.Server.HoldRequest(zktest.Match{Op: zktest.OpCreateContainer, Path: "/locks*"})
		defer release()
		ended := make(chan error, 1)
		go func() {
			_, err := s.CreateProtected(t.Context(), "/locks", "lock-", nil)
			ended <- err
		}()
		synctest.Wait()
		_ = w.Client.Close()
		if err := <-ended; !errors.Is(err, framework.ErrClosed) || errors.Is(err, framework.ErrConnectionLost) {
			t.Errorf("got %v, want ErrClosed alone", err)
		}
	})
}

// The listing would be too large the next time as well, so the node that came with it is of no use.
func TestCreateProtectedWhoseListingIsTooLargeLeavesNoNode(t *testing.T) {
	bubble(t, func(t *testing.T, w *env) {
		w.Make("/crowd")
		for i := range 1000 {
			w.Make(fmt.Sprintf("/crowd/stranger-%d", i))
		}
		s := w.Session()
		_, err := s.CreateProtected(t.Context(), "/crowd", "lock-", nil)
		wantErr(t, err, framework.ErrTooLarge)
		wantNoNode(t, w, s, "/crowd")
	}, framework.WithMaxResponse(8<<10))
}

// The caller's context ends while the answer is applied, before the caller could look at it: it is the caller that
// finds the attempt settled, and not the goroutine that reads the connection.
func TestACreateProtectedWhoseCallerLeavesAtTheAnswerLeavesNoNode(t *testing.T) {
	for name, list := range map[string]bool{"with a listing": true, "without a listing": false} {
		t.Run(name, func(t *testing.T) {
			bubble(t, func(t *testing.T, w *env) {
				w.Make("/dir")
				s := w.Session()
				left := 0
				for range 200 {
					ctx, leave := context.WithCancel(t.Context())
					observer := &leaver{atCreation: !list, leave: leave}
					s.ObserveChildren("/dir", observer)
					create := s.CreateProtectedWithoutListing
					if list {
						create = s.CreateProtected
					}
					entry, err := create(ctx, "/dir", "lock-", nil)
					switch {
					case err == nil:
						s.Remove(entry.Path)
					case errors.Is(err, context.Canceled):
						left++
					default:
						t.Fatalf("got %v, want none or context.Canceled", err)
					}
					s.UnobserveChildren("/dir", observer)
					leave()
				}
				if left == 0 {
					t.Errorf("got 0 of 200 creations whose caller left at the answer, want some")
				}
				wantNoNode(t, w, s, "/dir")
			})
		})
	}
}

// A leaver ends the context of a creation while its last answer is applied.
type leaver struct {
	atCreation bool
	leave      context.CancelFunc
}

func (l *leaver) Created(string) {
	if l.atCreation {
		l.leave()
	}
}

func (l *leaver) Listed([]string, *zk.Stat) { l.leave() }

func (l *leaver) Gone(string) {}
func (l *leaver) Behind()     {}

// wantNoNode reports nodes under protection that are left in a directory although their session lives.
func wantNoNode(t *testing.T, w *env, s framework.Session, dir string) {
	t.Helper()
	time.Sleep(5 * time.Second)
	synctest.Wait()
	var got []string
	for _, name := range w.Server.Children(dir) {
		if strings.HasPrefix(name, "_c_") {
			got = append(got, name)
		}
	}
	if len(got) > 0 || s.Err() != nil {
		t.Errorf("got nodes %q, session error %v; want none of either", got, s.Err())
	}
}

// Others delete the directory whenever it is empty, again and again. The node is created right after its parent: a
// pause in between would let them win.
func TestCreateProtectedInADirectoryThatOthersDelete(t *testing.T) {
	bubble(t, func(t *testing.T, w *env) {
		done := make(chan struct{})
		defer close(done)
		go func() {
			for {
				select {
				case <-done:
					return
				case <-time.After(time.Millisecond):
					_ = w.Server.Delete("/dir") // refused while it has a child
				}
			}
		}()
		s := w.Session()
		for i := range 20 {
			began := time.Now()
			entry, err := s.CreateProtected(w.Within(time.Minute), "/dir", "n-", nil)
			must(t, err)
			if took := time.Since(began); took > time.Second {
				t.Errorf("create %d took %v, want at most a second", i, took)
			}
			<-s.Remove(entry.Path).Done()
			time.Sleep(3 * time.Millisecond)
		}
	})
}

func TestCreateProtectedLeavesAnOverloadedServerAndWaitsNoLongerThanItsSession(t *testing.T) {
	zktest.Bubble(t, func(t *testing.T) {
		server := zktest.New(t)
		must(t, server.Create("/dir", nil))
		var left, dials atomic.Int32
		client := connect(t, server, framework.WithDialer(func(ctx context.Context, network, address string) (net.Conn, error) {
			dials.Add(1)
			conn, err := server.DialContext(ctx, network, address)
			return refusing(conn, zktest.OpCreate2, &left), err
		}))
		s := enterable(t, client)
		left.Store(1000)
		ended := make(chan time.Time, 1)
		go func() {
			_, err := s.CreateProtected(t.Context(), "/dir", "n-", nil)
			wantErr(t, err, framework.ErrClosed)
			ended <- time.Now()
		}()
		time.Sleep(10 * time.Second) // pauses have grown to a second
		if tries := 1000 - left.Load(); dials.Load() < tries {
			t.Errorf("got %d connections for %d tries, want one for each", dials.Load(), tries)
		}
		closed := time.Now()
		_ = client.Close()
		if took := (<-ended).Sub(closed); took != 0 {
			t.Errorf("got the end of the wait %v after the session's, want it at once", took)
		}
	})
}
