package live_test

import (
	"context"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-zookeeper/zk"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/framework/internal/clienttest"
	"github.com/gocurator/curator/framework/zktest"
)

func TestCreateAtCostsOneRequestAndRemoveAtTwo(t *testing.T) {
	bubble(t, func(t *testing.T, w *env) {
		w.Make("/dir")
		s := w.Session()
		count := w.Server.CountRequests(zktest.Match{Session: s.ID()})
		for _, c := range []struct {
			what string
			want int
			do   func()
		}{
			{"CreateAt", 1, func() { wantErr(t, s.CreateAt(t.Context(), "/dir/a", nil, nil)) }},
			{"CreateAt instead of another node", 1, func() {
				stat, _ := w.Server.Stat("/dir/a")
				wantErr(t, s.CreateAt(t.Context(), "/dir/a", nil, &zk.Stat{Version: stat.Version, Czxid: stat.Czxid}))
			}},
			{"RemoveAt", 2, func() { <-s.RemoveAt("/dir/a").Done() }},
			{"RemoveAt without a node", 1, func() { <-s.RemoveAt("/dir/a").Done() }},
			{"what follows", 0, func() { time.Sleep(s.Timeout() / 4) }}, // less than a renewal
		} {
			before := count()
			c.do()
			synctest.Wait()
			if n := count() - before; n != c.want {
				t.Errorf("%s: got %d requests, want %d", c.what, n, c.want)
			}
		}
		if w.Server.Exists("/dir/a") {
			t.Error("got a node, want none")
		}
	})
}

// A place is where a removal loses a request or an answer, or is refused for a moment.
var places = map[string]func(s *zktest.Server){
	"nothing":                 func(*zktest.Server) {},
	"the look":                func(s *zktest.Server) { s.DropRequest(zktest.Match{Op: zktest.OpExists}) },
	"the look's answer":       func(s *zktest.Server) { s.DropReply(zktest.Match{Op: zktest.OpExists}) },
	"the look refused":        func(s *zktest.Server) { s.ThrottleRequest(zktest.Match{Op: zktest.OpExists}) },
	"the look not answered":   func(s *zktest.Server) { s.SwallowReply(zktest.Match{Op: zktest.OpExists}) },
	"the delete":              func(s *zktest.Server) { s.DropRequest(zktest.Match{Op: zktest.OpDelete}) },
	"the delete's answer":     func(s *zktest.Server) { s.DropReply(zktest.Match{Op: zktest.OpDelete}) },
	"the delete refused":      func(s *zktest.Server) { s.ThrottleRequest(zktest.Match{Op: zktest.OpDelete}) },
	"the delete not answered": func(s *zktest.Server) { s.SwallowReply(zktest.Match{Op: zktest.OpDelete}) },
	"both requests":           lose((*zktest.Server).DropRequest, zktest.OpExists, zktest.OpDelete),
	"both answers":            lose((*zktest.Server).DropReply, zktest.OpDelete, zktest.OpExists),
	"the delete, the fence":   lose((*zktest.Server).DropRequest, zktest.OpDelete, zktest.OpMulti),
	"the answers of these":    lose((*zktest.Server).DropReply, zktest.OpDelete, zktest.OpMulti),
	"the fence refused": func(s *zktest.Server) {
		s.DropReply(zktest.Match{Op: zktest.OpDelete})
		s.ThrottleRequest(zktest.Match{Op: zktest.OpMulti})
	},
	"the delete behind the look": func(s *zktest.Server) {
		s.DropRequest(zktest.Match{Op: zktest.OpDelete})
		s.DropReply(zktest.Match{Op: zktest.OpDelete, Nth: 2})
	},
}

func lose(fault func(*zktest.Server, zktest.Match), ops ...zktest.Op) func(*zktest.Server) {
	return func(s *zktest.Server) {
		for _, op := range ops {
			fault(s, zktest.Match{Op: op})
		}
	}
}

// Another takes the path as soon as it is free. Its node stays, and the path is free if no other wants it.
func TestRemoveAtRemovesTheSessionsNodeAloneWhateverIsLost(t *testing.T) {
	for name, lost := range places {
		for _, successor := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s/successor %t", name, successor), func(t *testing.T) {
				bubble(t, func(t *testing.T, w *env) {
					w.Link.SetLatency(time.Millisecond)
					s := w.Session()
					wantErr(t, s.CreateAt(t.Context(), "/a", nil, nil))
					lost(w.Server)
					r := s.RemoveAt("/a")
					for w.Server.Exists("/a") {
						time.Sleep(100 * time.Microsecond)
					}
					if successor {
						w.Make("/a")
					}
					<-r.Done()
					wantErr(t, r.Err())
					time.Sleep(10 * clienttest.SessionTimeout)
					if there := w.Server.Exists("/a"); there != successor || s.Err() != nil {
						t.Errorf("got node %t, session error %v; want node %t, and none", there, s.Err(), successor)
					}
				})
			})
		}
	}
}

func TestRemoveAtWhoseNodeIsDeletedBetweenLookAndDeleteSucceeds(t *testing.T) {
	bubble(t, func(t *testing.T, w *env) {
		s := w.Session()
		wantErr(t, s.CreateAt(t.Context(), "/a", nil, nil))
		release := w.Server.HoldRequest(zktest.Match{Op: zktest.OpDelete})
		r := s.RemoveAt("/a")
		synctest.Wait()
		wantErr(t, w.Server.Delete("/a"))
		release()
		<-r.Done()
		wantErr(t, r.Err())
	})
}

// Each change makes another look necessary. The node goes nevertheless, once it stays as it is between look and delete.
func TestRemoveAtRemovesANodeThatIsChangedMeanwhile(t *testing.T) {
	bubble(t, func(t *testing.T, w *env) {
		s := w.Session()
		wantErr(t, s.CreateAt(t.Context(), "/a", nil, nil))
		changes := 0
		w.Cleanup(w.Server.Observe(func(r zktest.Request) {
			if r.Op == zktest.OpDelete && changes < 3 {
				changes++
				wantErr(t, w.Server.SetData("/a", nil))
			}
		}))
		r := s.RemoveAt("/a")
		<-r.Done()
		wantErr(t, r.Err())
		if n := w.Count(zktest.OpDelete); w.Server.Exists("/a") || n != 4 {
			t.Errorf("got node %t, %d deletes; want it removed by the fourth", w.Server.Exists("/a"), n)
		}
	})
}

// Connections end on each transaction. The session goes on with syncs, and loses no more connections.
func TestRemoveAtRemovesTheNodeAtAServerThatHangsUpOnTransactions(t *testing.T) {
	bubble(t, func(t *testing.T, w *env) {
		s := w.Session()
		wantErr(t, s.CreateAt(t.Context(), "/a", nil, nil))
		w.Server.DropRequest(zktest.Match{Op: zktest.OpDelete})
		for n := range 100 {
			w.Server.DropRequest(zktest.Match{Op: zktest.OpMulti, Nth: n + 1})
		}
		r := s.RemoveAt("/a")
		<-r.Done()
		wantErr(t, r.Err())
		if w.Server.Exists("/a") || s.Err() != nil {
			t.Errorf("got node %t, session error %v; want neither", w.Server.Exists("/a"), s.Err())
		}
	})
}

// DELETE is missing for a while: CreateAt waits for no more than the removal's answer, and the node is its own again.
func TestCreateAtEndsARemoveAtThatIsRefused(t *testing.T) {
	bubble(t, func(t *testing.T, w *env) {
		w.Make("/dir")
		s := w.Session()
		wantErr(t, s.CreateAt(t.Context(), "/dir/a", nil, nil))
		w.protect("/dir", zk.PermAll&^zk.PermDelete)
		r := s.RemoveAt("/dir/a")
		<-r.Done()
		wantErr(t, r.Err(), zk.ErrNoAuth)
		time.Sleep(time.Minute) // it is asked for again and again
		answer := w.Server.HoldRequest(zktest.Match{Op: zktest.OpDelete})
		w.Eventually("asked for again", func() bool { return w.Count(zktest.OpExists) > 1 })
		time.Sleep(clienttest.SessionTimeout)
		time.AfterFunc(time.Second, answer)
		began := time.Now()
		wantErr(t, s.CreateAt(w.Within(10*time.Second), "/dir/a", nil, nil))
		if took := time.Since(began); took > 2*time.Second {
			t.Errorf("got it after %v, want it after the answer to the removal", took)
		}
		w.protect("/dir", zk.PermAll)
		time.Sleep(10 * clienttest.SessionTimeout)
		if !w.Server.Exists("/dir/a") {
			t.Error("got no node, want the one that CreateAt has found")
		}
		<-s.RemoveAt("/dir/a").Done()
		if w.Server.Exists("/dir/a") {
			t.Error("got a node, want it removed")
		}
	})
}

// Without a connection the removal cannot end. The wait for it ends with ctx, and with the session.
func TestCreateAtThatWaitsForARemovalEndsWithItsContextAndItsSession(t *testing.T) {
	bubble(t, func(t *testing.T, w *env) {
		s := w.Session()
		wantErr(t, s.CreateAt(t.Context(), "/a", nil, nil))
		w.Link.Cut()
		w.Eventually("suspended", func() bool { return w.Client.State() == framework.StateSuspended })
		s.RemoveAt("/a")
		began := time.Now()
		err := s.CreateAt(w.Within(time.Second), "/a", nil, nil)
		wantErr(t, err, context.DeadlineExceeded)
		if took := time.Since(began); took != time.Second {
			t.Errorf("got its end after %v, want a second", took)
		}
		wantErr(t, s.CreateAt(w.Within(time.Hour), "/a", nil, nil), framework.ErrSessionLost)
		w.Link.Heal()
		w.Eventually("gone with its session", func() bool { return !w.Server.Exists("/a") })
	})
}
