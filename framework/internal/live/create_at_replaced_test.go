package live_test

import (
	"sync/atomic"
	"testing"
	"time"

	"github.com/go-zookeeper/zk"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/framework/zktest"
)

// created counts the nodes that are created at path.
func created(w *env, path string) (count func() int) {
	var n atomic.Int32
	w.Cleanup(w.Server.ObserveTransactions(func(tx zktest.Transaction) {
		for _, c := range tx.Changes {
			if c.Kind == zktest.Created && c.Path == path {
				n.Add(1)
			}
		}
	}))
	return func() int { return int(n.Load()) }
}

// predecessor makes a node at /a, and returns its Stat: another's, or an earlier one of the session.
func predecessor(t *testing.T, w *env, own bool) *zk.Stat {
	t.Helper()
	s := w.Session()
	if own {
		wantErr(t, s.CreateAt(t.Context(), "/a", []byte("old"), nil))
	} else {
		w.Make("/a")
	}
	stat, err := s.Exists(t.Context(), "/a")
	if err != nil || stat == nil {
		t.Fatalf("got %+v, %v; the test needs a node", stat, err)
	}
	return stat
}

var transaction = zktest.Match{Op: zktest.OpMulti, Path: "/a"}

// The transaction deletes what is there with a version that most nodes have. So it is executed once.
func TestCreateAtReplacesANodeOnceWhateverIsLost(t *testing.T) {
	for name, lost := range map[string]func(s *zktest.Server){
		"nothing":         func(*zktest.Server) {},
		"the transaction": func(s *zktest.Server) { s.DropRequest(transaction) },
		"its answer":      func(s *zktest.Server) { s.DropReply(transaction) },
		"refused":         func(s *zktest.Server) { s.ThrottleRequest(transaction) },
		"it, and the fence": func(s *zktest.Server) {
			s.DropRequest(transaction)
			s.DropReply(zktest.Match{Op: zktest.OpMulti, Path: "/"})
		},
		"it, and the look":   func(s *zktest.Server) { s.DropRequest(transaction); s.DropReply(zktest.Match{Op: zktest.OpExists}) },
		"both, and the look": func(s *zktest.Server) { s.DropReply(transaction); s.DropReply(zktest.Match{Op: zktest.OpExists}) },
	} {
		for whose, own := range map[string]bool{"another's": false, "the session's": true} {
			t.Run(name+"/"+whose, func(t *testing.T) {
				bubble(t, func(t *testing.T, w *env) {
					s := w.Session()
					stat := predecessor(t, w, own)
					count := created(w, "/a")
					lost(w.Server)
					wantErr(t, s.CreateAt(t.Context(), "/a", []byte("new"), stat))
					data, _ := w.Server.Data("/a")
					if got, _ := w.Server.Stat("/a"); string(data) != "new" || got.EphemeralOwner != s.ID() || count() != 1 {
						t.Errorf("got %q of session %#x, created %d times; want the session's new one, once", data, got.EphemeralOwner, count())
					}
				})
			})
		}
	}
}

// The connection breaks on the transaction, and another client puts its own node in the place of ours, or of the node
// that was to be replaced. It has the same version.
func TestCreateAtLeavesTheNodeThatHasTakenTheReplacedOnesPlace(t *testing.T) {
	for name, lose := range map[string]func(s *zktest.Server, m zktest.Match){
		"the transaction is lost": (*zktest.Server).DropRequest, "its answer is lost": (*zktest.Server).DropReply,
	} {
		for whose, own := range map[string]bool{"another's": false, "the session's": true} {
			t.Run(name+"/"+whose, func(t *testing.T) {
				bubble(t, func(t *testing.T, w *env) {
					s := w.Session()
					stat := predecessor(t, w, own)
					lose(w.Server, transaction)
					w.Server.RefuseConnections(true)
					time.AfterFunc(time.Second, func() {
						wantErr(t, w.Server.Delete("/a"))
						wantErr(t, w.Server.Create("/a", []byte("successor")))
						w.Server.RefuseConnections(false)
					})
					wantErr(t, s.CreateAt(w.Within(time.Minute), "/a", nil, stat), zk.ErrBadVersion)
					<-s.RemoveAt("/a").Done()
					time.Sleep(10 * s.Timeout())
					if data, _ := w.Server.Data("/a"); string(data) != "successor" {
						t.Errorf("got a node with %q, want the successor's", data)
					}
				})
			})
		}
	}
}

// What is to be replaced has gone, has changed, or has children.
func TestCreateAtReplacesOnlyTheNodeWithThatVersion(t *testing.T) {
	for name, c := range map[string]struct {
		change func(w *env) error
		want   error
	}{
		"gone":     {func(w *env) error { return w.Server.Delete("/a") }, zk.ErrNoNode},
		"changed":  {func(w *env) error { return w.Server.SetData("/a", nil) }, zk.ErrBadVersion},
		"a parent": {func(w *env) error { return w.Server.Create("/a/b", nil) }, zk.ErrNotEmpty},
	} {
		t.Run(name, func(t *testing.T) {
			bubble(t, func(t *testing.T, w *env) {
				stat := predecessor(t, w, false)
				wantErr(t, c.change(w))
				before := created(w, "/a")
				wantErr(t, w.Session().CreateAt(t.Context(), "/a", nil, stat), c.want)
				if before() != 0 {
					t.Error("got a node created, want none")
				}
			})
		})
	}
}

// The session's own node was changed since: it is not the one that CreateAt would have made.
func TestCreateAtDoesNotTakeTheReplacedNodeForItsOwn(t *testing.T) {
	bubble(t, func(t *testing.T, w *env) {
		stat := predecessor(t, w, true)
		wantErr(t, w.Server.SetData("/a", []byte("changed")))
		wantErr(t, w.Session().CreateAt(t.Context(), "/a", []byte("new"), stat), zk.ErrBadVersion)
	})
}

// The caller's Stat is out of date by the time that the transaction can be sent.
func TestCreateAtThatWaitsFirstLeavesTheNodeThatHasTakenTheReplacedOnesPlace(t *testing.T) {
	for name, wait := range map[string]func(w *env) (end func()){
		"for a connection": func(w *env) func() {
			w.Link.Cut()
			w.Eventually("suspended", func() bool { return w.Client.State() == framework.StateSuspended })
			return func() {
				wantErr(w, w.Server.Delete("/a"))
				w.Make("/a")
				w.Link.Heal()
			}
		},
		"for a removal": func(w *env) func() {
			answer := w.Server.HoldRequest(zktest.Match{Op: zktest.OpExists})
			w.Session().RemoveAt("/a")
			return func() {
				again := w.Server.HoldRequest(zktest.Match{Op: zktest.OpMulti})
				answer()
				w.Eventually("removed", func() bool { return !w.Server.Exists("/a") })
				w.Make("/a")
				again()
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			bubble(t, func(t *testing.T, w *env) {
				s := w.Session()
				stat := predecessor(t, w, true)
				end := wait(w)
				time.AfterFunc(time.Second, end)
				wantErr(t, s.CreateAt(w.Within(time.Minute), "/a", nil, stat), zk.ErrBadVersion)
				if data, _ := w.Server.Data("/a"); string(data) != "1" {
					t.Errorf("got a node with %q, want the successor's", data)
				}
			})
		})
	}
}
