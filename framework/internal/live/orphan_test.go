package live_test

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"log/slog"
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

// A lateCreate is a way to create a node in /dir, one try of which a thread of the server executes late.
var lateCreates = map[string]struct {
	op     zktest.Op
	create func(t *testing.T, w *env) (path string, err error)
}{
	"sequential": {zktest.OpCreate2, func(t *testing.T, w *env) (string, error) {
		entry, err := w.Session().CreateProtected(t.Context(), "/dir", "n-", nil)
		return entry.Path, err
	}},
	"if another exists": {zktest.OpMulti, func(t *testing.T, w *env) (string, error) {
		return w.Session().CreateIfExists(t.Context(), "/guard", "/dir", "n-0000000007", nil)
	}},
	"by the client": {zktest.OpCreate2, func(t *testing.T, w *env) (string, error) {
		path, _, err := w.Client.Create(t.Context(), "/dir/n-", nil, framework.WithMode(framework.Ephemeral), framework.WithProtection())
		return path, err
	}},
	"persistent, by the client": {zktest.OpCreate2, func(t *testing.T, w *env) (string, error) {
		path, _, err := w.Client.Create(t.Context(), "/dir/n-", nil, framework.WithMode(framework.PersistentSequential), framework.WithProtection())
		return path, err
	}},
}

// stalled creates a node whose first try stalls, in a session that moves to another connection meanwhile. The try is
// executed when goOn is called.
func stalled(t *testing.T, w *env, op zktest.Op, create func(t *testing.T, w *env) (string, error)) (path string, goOn func()) {
	t.Helper()
	goOn = w.Server.Stall(zktest.Match{Op: op, Path: "/dir/*"})
	created := make(chan string, 1)
	go func() {
		path, err := create(t, w)
		wantErr(t, err)
		created <- path
	}()
	synctest.Wait()
	w.Server.CutSession(w.Session().ID())
	path = <-created
	if n := w.Server.Children("/dir"); len(n) != 1 || path != "/dir/"+n[0] {
		t.Fatalf("created %s, there are %q", path, n)
	}
	return path, goOn
}

// The node that a server creates late goes, as long as it comes less than four session timeouts after the loss; the
// node that the caller has got stays.
func TestANodeThatIsCreatedLateIsRemoved(t *testing.T) {
	const timeout = clienttest.SessionTimeout
	for name, how := range lateCreates {
		for _, late := range []time.Duration{0, timeout / 20, timeout / 5, timeout / 2, 2 * timeout, 4*timeout - time.Second} {
			t.Run(fmt.Sprintf("%s/%v late", name, late), func(t *testing.T) {
				bubble(t, func(t *testing.T, w *env) {
					w.Make("/dir")
					w.Make("/guard")
					path, goOn := stalled(t, w, how.op, how.create)
					time.Sleep(late)
					goOn()
					synctest.Wait()
					if n := w.Server.Children("/dir"); len(n) != 2 {
						t.Fatalf("got nodes %q, the test needs one that is created late", n)
					}
					time.Sleep(5 * timeout)
					if n := w.Server.Children("/dir"); len(n) != 1 || path != "/dir/"+n[0] {
						t.Errorf("got nodes %q, want %s alone", n, path)
					}
				})
			})
		}
	}
}

// The session looks four times for a try that a search has not shown: a transaction and a listing each. Then it forgets
// it.
func TestALostCreateIsLookedForFourTimes(t *testing.T) {
	bubble(t, func(t *testing.T, w *env) {
		w.Make("/dir")
		how := lateCreates["sequential"]
		_, goOn := stalled(t, w, how.op, how.create)
		before := w.Server.Counts()
		time.Sleep(100 * clienttest.SessionTimeout)
		after := w.Server.Counts()
		if fences, listings := after[zktest.OpMulti]-before[zktest.OpMulti], after[zktest.OpGetChildren2]-before[zktest.OpGetChildren2]; fences != 4 || listings != 4 {
			t.Errorf("got %d transactions and %d listings, want 4 of each", fences, listings)
		}
		goOn()
	})
}

// Creates of one directory that are given up at different moments share the looks.
func TestLostCreatesShareTheirLooks(t *testing.T) {
	const creates = 100
	bubble(t, func(t *testing.T, w *env) {
		w.Make("/dir")
		s := w.Session()
		for range creates {
			w.Server.DropReply(zktest.Match{Path: "/dir/*"}) // whichever request the client creates with
			w.Server.RefuseConnections(true)
			if _, err := s.CreateProtected(w.Within(time.Millisecond), "/dir", "n-", nil); err == nil {
				t.Fatal("got a node, the test needs a create that is given up")
			}
			w.Server.RefuseConnections(false)
			w.Connected()
			time.Sleep(100 * time.Millisecond)
		}
		before := w.Server.Counts()
		time.Sleep(100 * clienttest.SessionTimeout)
		after := w.Server.Counts()
		if n := after[zktest.OpGetChildren2] - before[zktest.OpGetChildren2]; n > 5*16 {
			t.Errorf("got %d listings for %d creates, want at most 16 in each session timeout", n, creates)
		}
		if n := w.Server.Children("/dir"); len(n) != 0 {
			t.Errorf("got %d nodes, want none", len(n))
		}
	})
}

// Any listing of the session shows the node: the session does not wait for its next look.
func TestAListingShowsANodeThatIsCreatedLate(t *testing.T) {
	for name, list := range map[string]func(t *testing.T, w *env){
		"a listing": func(t *testing.T, w *env) {
			if _, _, err := w.Session().Children(t.Context(), "/dir"); err != nil {
				t.Error(err)
			}
		},
		"another contender's": func(t *testing.T, w *env) {
			entry, err := w.Session().CreateProtected(t.Context(), "/dir", "n-", nil)
			must(t, err)
			<-w.Session().Remove(entry.Path).Done()
		},
		"the search for another node": func(t *testing.T, w *env) {
			w.Server.DropReply(zktest.Match{Op: zktest.OpCreate2})
			path, _, err := w.Client.Create(t.Context(), "/dir/n-", nil, framework.WithMode(framework.EphemeralSequential), framework.WithProtection())
			must(t, err)
			<-w.Session().Remove(path).Done()
		},
	} {
		t.Run(name, func(t *testing.T) {
			bubble(t, func(t *testing.T, w *env) {
				w.Make("/dir")
				how := lateCreates["sequential"]
				path, goOn := stalled(t, w, how.op, how.create)
				time.Sleep(2 * clienttest.SessionTimeout) // the next look is two timeouts away
				goOn()
				synctest.Wait()
				list(t, w)
				synctest.Wait()
				if n := w.Server.Children("/dir"); len(n) != 1 || path != "/dir/"+n[0] {
					t.Errorf("got nodes %q, want %s alone", n, path)
				}
			})
		})
	}
}

// The late try is executed after the search for it and before the next try, whose listing shows it: the node goes at
// once, and the contender does not wait behind it.
func TestANodeThatIsCreatedBetweenTheSearchAndTheNextTryIsRemovedAtOnce(t *testing.T) {
	bubble(t, func(t *testing.T, w *env) {
		w.Make("/dir")
		goOn := w.Server.Stall(zktest.Match{Op: zktest.OpCreate2})
		created := make(chan string, 1)
		go func() {
			entry, err := w.Session().CreateProtected(t.Context(), "/dir", "n-", nil)
			wantErr(t, err)
			created <- entry.Path
		}()
		synctest.Wait()
		next := w.Server.HoldRequest(zktest.Match{Op: zktest.OpCreate2})
		w.Server.CutSession(w.Session().ID())
		time.Sleep(time.Second)
		goOn()
		synctest.Wait()
		if n := w.Server.Children("/dir"); len(n) != 1 {
			t.Fatalf("got nodes %q, the test needs the late one", n)
		}
		next()
		path := <-created
		synctest.Wait()
		if n := w.Server.Children("/dir"); len(n) != 1 || path != "/dir/"+n[0] {
			t.Errorf("got nodes %q, want %s alone", n, path)
		}
	})
}

// A watch on the directory shows it, too, and a session that only watches.
func TestAWatchShowsANodeThatIsCreatedLate(t *testing.T) {
	bubble(t, func(t *testing.T, w *env) {
		w.Make("/dir")
		how := lateCreates["sequential"]
		path, goOn := stalled(t, w, how.op, how.create)
		watch := w.Session().WatchChildren("/dir", func() {})
		defer watch.Stop()
		time.Sleep(2 * clienttest.SessionTimeout)
		goOn()
		synctest.Wait()
		if n := w.Server.Children("/dir"); len(n) != 1 || path != "/dir/"+n[0] {
			t.Errorf("got nodes %q, want %s alone", n, path)
		}
	})
}

// Two tries of one creation are executed before it is searched for: the lower node is its own. The other is removed,
// and reported.
func TestOfTwoNodesOfACreationTheLowerIsAdopted(t *testing.T) {
	for name, how := range lateCreates {
		t.Run(name, func(t *testing.T) {
			var traced []string
			bubble(t, func(t *testing.T, w *env) {
				w.Make("/dir")
				w.Make("/guard")
				found := make(chan string, 1)
				goOn := w.Server.Stall(zktest.Match{Op: how.op, Path: "/dir/*"})
				go func() {
					path, err := how.create(t, w)
					wantErr(t, err)
					found <- path
				}()
				synctest.Wait()
				w.Server.DropReply(zktest.Match{Op: how.op, Path: "/dir/*"})
				answer := w.Server.HoldRequest(zktest.Match{Op: zktest.OpMulti, Path: "/", Nth: 2}) // the second search
				w.Server.CutSession(w.Session().ID())
				time.Sleep(3 * time.Second)
				goOn()
				synctest.Wait()
				before := w.Server.Children("/dir")
				if len(before) != 2 {
					t.Fatalf("got nodes %q, the test needs two", before)
				}
				first := slices.MinFunc(before, func(a, b string) int {
					x, _ := w.Server.Stat("/dir/" + a)
					y, _ := w.Server.Stat("/dir/" + b)
					return cmp.Compare(x.Czxid, y.Czxid)
				})
				answer()
				path := <-found
				synctest.Wait()
				if n := w.Server.Children("/dir"); len(n) != 1 || n[0] != first || path != "/dir/"+first {
					t.Errorf("got %s, and nodes %q; want %s of %q", path, n, first, before)
				}
				if len(traced) != 1 || traced[0] == path {
					t.Errorf("got %q traced, want the other than %s of %q", traced, path, before)
				}
			}, framework.WithTrace(framework.Trace{OrphanFound: func(path string) { traced = append(traced, path) }}))
		})
	}
}

// Where the client may not list the directory, the log says what cannot be looked for, once.
func TestALostCreateThatCannotBeLookedForIsLogged(t *testing.T) {
	var log bytes.Buffer
	bubble(t, func(t *testing.T, w *env) {
		w.Make("/dir")
		how := lateCreates["sequential"]
		_, goOn := stalled(t, w, how.op, how.create)
		if _, err := w.Client.SetACL(t.Context(), "/dir", zk.WorldACL(zk.PermAll&^zk.PermRead), -1); err != nil {
			t.Fatal(err)
		}
		time.Sleep(10 * clienttest.SessionTimeout)
		goOn()
	}, framework.WithLogger(slog.New(slog.NewTextHandler(&log, &slog.HandlerOptions{Level: slog.LevelWarn}))))
	if n := strings.Count(log.String(), "could not be looked for"); n != 1 || !strings.Contains(log.String(), "path=/dir/_c_") {
		t.Errorf("got %d records, want one that names the node: %s", n, log.String())
	}
}

// Many callers leave during their searches. What they leave is looked for together.
func TestCreatesWhoseCallersLeaveDuringTheSearchShareALook(t *testing.T) {
	const creates = 200
	bubble(t, func(t *testing.T, w *env) {
		w.Make("/dir")
		s := w.Session()
		var leave []context.CancelFunc
		w.Server.Freeze()
		var callers sync.WaitGroup
		for range creates {
			ctx, cancel := context.WithCancel(t.Context())
			leave = append(leave, cancel)
			callers.Go(func() { _, _ = s.CreateProtected(ctx, "/dir", "n-", nil) })
		}
		synctest.Wait()
		w.Link.Cut()
		synctest.Wait()
		answer := w.Server.HoldRequest(zktest.Match{Op: zktest.OpMulti})
		w.Link.Heal()
		w.Server.Unfreeze()
		w.Eventually("connected", s.Connected)
		time.Sleep(100 * time.Millisecond) // all search
		before := w.Server.Counts()
		for _, cancel := range leave { // the first look is on its way when the others leave
			cancel()
			time.Sleep(time.Millisecond)
		}
		callers.Wait()
		answer()
		wantNoNode(t, w, s, "/dir")
		after := w.Server.Counts()
		searches := after[zktest.OpGetChildren2] - before[zktest.OpGetChildren2]
		if searches > creates+16 { // those that were on their way, and the looks
			t.Errorf("got %d listings, want at most %d", searches, creates+16)
		}
	})
}

// An overloaded server refuses a request of a look: the connection stays, since other clients' requests make the
// overload, and the session's leases hang on the connection under StandardErrorPolicy. The session pauses for a second
// each time.
func TestALookAtAnOverloadedServerKeepsTheConnection(t *testing.T) {
	for name, refused := range map[string]zktest.Op{"the transaction": zktest.OpMulti, "the listing": zktest.OpGetChildren2} {
		t.Run(name, func(t *testing.T) {
			bubble(t, func(t *testing.T, w *env) {
				w.Make("/dir")
				how := lateCreates["sequential"]
				path, goOn := stalled(t, w, how.op, how.create)
				synctest.Wait()
				before := len(w.States.All())
				for i := range 3 {
					w.Server.ThrottleRequest(zktest.Match{Op: refused, Nth: i + 1})
				}
				goOn()
				time.Sleep(2 * time.Second) // the looks begin after less than one
				if n := w.Server.Children("/dir"); len(n) != 2 {
					t.Errorf("got nodes %q after two seconds, want two: a pause after each refusal", n)
				}
				time.Sleep(4 * time.Second)
				if n := w.Server.Children("/dir"); len(n) != 1 || path != "/dir/"+n[0] {
					t.Errorf("got nodes %q, want %s alone", n, path)
				}
				if got := w.States.All(); len(got) != before {
					t.Errorf("got the states %v, want none after the first %d", got, before)
				}
			})
		})
	}
}

// A connection has ended on the transaction of a look, so the next look asks for something else before. The overloaded
// server refuses that: this connection stays.
func TestALookAfterAHangUpAtAnOverloadedServerKeepsTheConnection(t *testing.T) {
	bubble(t, func(t *testing.T, w *env) {
		w.Make("/dir")
		how := lateCreates["sequential"]
		path, goOn := stalled(t, w, how.op, how.create)
		synctest.Wait()
		before := len(w.States.All())
		w.Server.DropRequest(zktest.Match{Op: zktest.OpMulti})
		w.Server.ThrottleRequest(zktest.Match{Op: zktest.OpSync})
		goOn()
		time.Sleep(5 * clienttest.SessionTimeout)
		if n := w.Server.Children("/dir"); len(n) != 1 || path != "/dir/"+n[0] {
			t.Errorf("got nodes %q, want %s alone", n, path)
		}
		if got := w.States.All(); len(got) != before+2 {
			t.Errorf("got the states %v, want one loss after the first %d", got, before)
		}
	})
}

// DELETE is missing when a late node is found, and comes back. A node with a GUID belongs to its client alone, also if
// it outlives sessions.
func TestALateNodeWhoseRemovalIsRefusedIsRemovedLater(t *testing.T) {
	for name, how := range lateCreates {
		t.Run(name, func(t *testing.T) {
			bubble(t, func(t *testing.T, w *env) {
				w.Make("/dir")
				w.Make("/guard")
				path, goOn := stalled(t, w, how.op, how.create)
				w.protect("/dir", zk.PermAll&^zk.PermDelete)
				goOn()
				time.Sleep(clienttest.SessionTimeout / 2)
				if strings.HasPrefix(name, "persistent") {
					w.Server.ExpireSession(w.Session().ID())
					time.Sleep(time.Second)
				}
				w.protect("/dir", zk.PermAll)
				time.Sleep(3 * clienttest.SessionTimeout)
				for _, n := range w.Server.Children("/dir") {
					if path != "/dir/"+n {
						t.Errorf("got node %q, want %s alone", n, path)
					}
				}
			})
		})
	}
}

// The client gives its session up, and the servers have not yet: the old session's create is executed when the next
// session has looked already.
func TestALateNodeOfASessionThatTheClientHasGivenUpIsRemoved(t *testing.T) {
	const timeout = clienttest.SessionTimeout
	bubble(t, func(t *testing.T, w *env) {
		w.Make("/dir")
		how := lateCreates["persistent, by the client"]
		path, goOn := stalled(t, w, how.op, how.create)
		old := w.Session()
		time.Sleep(2 * timeout) // one look is left
		w.Link.Cut()
		time.Sleep(timeout / 2)
		w.Server.Freeze() // its clock stands still
		w.Link.Heal()
		<-old.Done()
		w.Server.Unfreeze()
		w.Connected()
		time.Sleep(500 * time.Millisecond)
		goOn()
		synctest.Wait()
		if n := w.Server.Children("/dir"); len(n) != 2 {
			t.Fatalf("got nodes %q, the test needs one that is created late", n)
		}
		time.Sleep(5 * timeout)
		if n := w.Server.Children("/dir"); len(n) != 1 || path != "/dir/"+n[0] {
			t.Errorf("got nodes %q, want %s alone", n, path)
		}
	})
}
