package zktest

import (
	"bytes"
	"net"
	"reflect"
	"sync"
	"testing"
	"time"
)

// replay holds what the transactions have made so far, and compares it with a tree.
type replay struct {
	t     *testing.T
	st    *store
	nodes map[string]Change
	zxid  int64
	ends  int // ended sessions, each of which had nodes
	fails int
}

func observe(t *testing.T, s *Server) *replay {
	r := &replay{t: t, st: s.store, nodes: make(map[string]Change)}
	s.ObserveTransactions(r.apply)
	return r
}

// apply runs while the store is locked.
func (r *replay) apply(x Transaction) {
	if r.zxid++; x.Zxid != r.zxid {
		r.t.Errorf("got zxid %d, want %d", x.Zxid, r.zxid)
		r.zxid = x.Zxid
	}
	for _, c := range x.Changes {
		before, there := r.nodes[c.Path]
		if there == (c.Kind == Created) || c.Kind == Deleted && c.Owner != before.Owner {
			r.t.Errorf("zxid %d: got %+v of a node that is there: %v, %+v", x.Zxid, c, there, before)
		}
		switch c.Kind {
		case Created:
			r.nodes[c.Path] = c
		case Deleted:
			delete(r.nodes, c.Path)
		case DataSet:
			before.Data = c.Data
			r.nodes[c.Path] = before
		}
	}
	if x.EndsSession && len(x.Changes) > 0 {
		r.ends++
	}
	if x.Failed {
		r.fails++
		if len(x.Changes) > 0 {
			r.t.Errorf("zxid %d: a request that failed: got the changes %v, want none", x.Zxid, x.Changes)
		}
	}
	r.compare("the leader's tree", r.st.tree)
}

// compare wants the nodes of a tree in the replay, but for those that each server has of itself.
func (r *replay) compare(what string, tree *tree) {
	if want := len(tree.nodes) - len(newTree(&r.st.cfg).nodes); len(r.nodes) != want {
		r.t.Errorf("zxid %d: got %d nodes, want %d as in %s", r.zxid, len(r.nodes), want, what)
	}
	for path, got := range r.nodes {
		if n := tree.nodes[path]; n == nil || !bytes.Equal(n.data, got.Data) || n.stat().EphemeralOwner != got.Owner {
			r.t.Errorf("zxid %d: got %s as %+v, want it as in %s: %+v", r.zxid, path, got, what, n)
		}
	}
}

// finish lets all sessions end, and all servers catch up.
func (r *replay) finish(least int) {
	time.Sleep(time.Hour)
	r.st.mu.Lock()
	defer r.st.unlock()
	for _, s := range r.st.servers {
		r.compare("the tree of each server", s.view)
	}
	if r.zxid != r.st.zxid || r.ends < least || r.fails == 0 || len(r.nodes) == 0 {
		r.t.Errorf("got %d transactions, %d ends of sessions with nodes, %d failures and %d nodes; want %d transactions, %d ends, and some of both",
			r.zxid, r.ends, r.fails, len(r.nodes), r.st.zxid, least)
	}
}

func TestTransactionsReplayedAreTheTreeOfAServer(t *testing.T) {
	Bubble(t, func(t *testing.T) {
		srv := NewServer()
		defer srv.Close()
		r := observe(t, srv)
		s := &script{t: t, dial: func() (net.Conn, error) { return srv.Dial("", "", 0) }}
		s.random(1, 1500)
		c := s.connect()
		c.create("/s", "", 0)
		s.multis(c)
		r.finish(1)
	})
}

func TestTransactionsReplayedAreTheTreeOfEachServerOfAnEnsemble(t *testing.T) {
	Bubble(t, func(t *testing.T) {
		ens := NewEnsemble(3)
		defer ens.Close()
		r := observe(t, ens.Server(1)) // a follower, then the leader
		to := 0
		s := &script{t: t, dial: func() (net.Conn, error) { return ens.Server(to).Dial("", "", 0) }}
		s.moves(func(i int) { to = i })
		s.dial = func() (net.Conn, error) { return ens.Server(s.conns%3).Dial("", "", 0) }
		for i, lag := range []time.Duration{0, 30 * time.Millisecond, 300 * time.Millisecond} {
			ens.SetLag((i+2)%3, lag)
			s.random(uint64(i), 400)
			ens.Elect((i + 1) % 3)
		}
		r.finish(1)
	})
}

func TestTransactionsNameTheSessionTheRequestAndTheOutcome(t *testing.T) {
	Bubble(t, func(t *testing.T) {
		srv := NewServer()
		defer srv.Close()
		var got []Transaction
		stop := srv.ObserveTransactions(func(x Transaction) {
			if want := time.Now().Truncate(time.Millisecond); !x.At.Equal(want) {
				t.Errorf("zxid %d: got the time %v, want %v", x.Zxid, x.At, want)
			}
			x.At = time.Time{}
			got = append(got, x)
		})
		s := &script{t: t, dial: func() (net.Conn, error) { return srv.Dial("", "", 0) }}
		c := s.connect()
		c.create("/own", "x", 1)                                // request 1
		c.create("/own", "x", 1)                                // request 2 fails
		c.multi(OpMulti, step{op: OpCheck, path: "/own", n: 0}) // request 3
		c.multi(OpMulti, step{op: OpCheck, path: "/own", n: 1}) // request 4 fails
		c.setACL("/own", open, -1)                              // request 5
		c.get(OpExists, "/own", false)                          // request 6 is not a transaction
		release := srv.Stall(Match{Op: OpSetData})
		var late sync.WaitGroup
		late.Go(func() { c.set("/own", "late", -1) }) // request 7, executed after its connection has ended
		settle()
		srv.CutSession(c.id)
		late.Wait()
		release()
		settle()
		srv.ExpireSession(c.id)
		d := s.connect()
		d.create("/d", "", 1)
		d.do(OpCloseSession, "", nil) // request 2
		stop()
		if err := srv.Create("/unseen", nil); err != nil {
			t.Fatal(err)
		}
		own := func(kind ChangeKind, owner int64, data []byte) []Change {
			return []Change{{Kind: kind, Path: "/own", Owner: owner, Data: data}}
		}
		want := []Transaction{
			{Zxid: 1, Session: c.id},
			{Zxid: 2, Session: c.id, Request: 1, Changes: own(Created, c.id, []byte("x"))},
			{Zxid: 3, Session: c.id, Request: 2, Failed: true},
			{Zxid: 4, Session: c.id, Request: 3},
			{Zxid: 5, Session: c.id, Request: 4, Failed: true},
			{Zxid: 6, Session: c.id, Request: 5, Changes: own(ACLSet, 0, nil)},
			{Zxid: 7, Session: c.id, Request: 7, Changes: own(DataSet, 0, []byte("late"))},
			{Zxid: 8, Session: c.id, EndsSession: true, Changes: own(Deleted, c.id, nil)},
			{Zxid: 9, Session: d.id},
			{Zxid: 10, Session: d.id, Request: 1, Changes: []Change{{Kind: Created, Path: "/d", Owner: d.id, Data: []byte{}}}},
			{Zxid: 11, Session: d.id, Request: 2, EndsSession: true, Changes: []Change{{Kind: Deleted, Path: "/d", Owner: d.id}}},
		}
		for i := range max(len(got), len(want)) {
			if i >= len(got) || i >= len(want) || !reflect.DeepEqual(got[i], want[i]) {
				t.Errorf("transaction %d: got %+v, want %+v", i+1, got[i:min(len(got), i+1)], want[i:min(len(want), i+1)])
			}
		}
	})
}
