package leader_test

import (
	"errors"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/framework/zktest"
	"github.com/gocurator/curator/recipes/leader"
	"github.com/gocurator/curator/recipes/locks"
)

// Scenarios of Curator's tests of elections that no other test here has. The table in curator_table_test.go has all.

// leadsOf counts who of all believes to lead.
func leadsOf(latches []*leader.LeaderLatch) (leads int) {
	for _, l := range latches {
		if l.HasLeadership() {
			leads++
		}
	}
	return leads
}

// latches starts n latches, one after the other, each with a client of its own.
func latches(t *testing.T, server *zktest.Server, n int) (all []*leader.LeaderLatch, peers []*peer) {
	t.Helper()
	for range n {
		p := newPeer(t, server)
		peers = append(peers, p)
		all = append(all, start(t, p.latch()))
	}
	return all, peers
}

func TestFollowerLeadsIfTheLeaderHasLeftDuringItsOutage(t *testing.T) {
	inBubble(t, func(t *testing.T, server *zktest.Server) {
		all, peers := latches(t, server, 2)
		awaitTerm(t, all[0])
		session := peers[1].sessionID(t)
		peers[1].link.Cut()
		time.Sleep(time.Second)
		wantErr(t, all[0].Close(), nil)
		expire(server, session) // its node is gone as well when it comes back
		peers[1].link.Heal()
		awaitTerm(t, all[1])
		wantNodes(t, server, 1)
	})
}

func TestSessionsThatEndTogetherLeaveOneLeader(t *testing.T) {
	inBubble(t, func(t *testing.T, server *zktest.Server) {
		all, peers := latches(t, server, 2)
		awaitTerm(t, all[0])
		for range 10 {
			for _, p := range peers {
				expire(server, p.sessionID(t))
			}
			time.Sleep(2 * sessionTimeout) // clients whose sessions end young pause before the next one
			if got := leadsOf(all); got != 1 {
				t.Fatalf("%d lead", got)
			}
			wantNodes(t, server, 2)
		}
	})
}

// Java's latch keeps its node under either policy. Here a term that is lost is over for good, and the latch stands
// again.
func TestErrorPolicyDecidesWhetherABlipEndsATerm(t *testing.T) {
	for policy, ends := range map[framework.ErrorPolicy]bool{framework.SessionErrorPolicy: false, framework.StandardErrorPolicy: true} {
		inBubble(t, func(t *testing.T, server *zktest.Server) {
			p := newPeer(t, server, framework.WithErrorPolicy(policy))
			l := start(t, p.latch())
			term := awaitTerm(t, l)
			campaigned := lead(t, leader.NewLeaderSelector(p.Client, "/leaders/b"))
			var changes []*locks.Lease
			l.OnChange(func(term *locks.Lease) { changes = append(changes, term) })
			p.link.Cut()
			synctest.Wait()
			for _, one := range []*locks.Lease{term, campaigned} {
				if ended := errors.Is(one.Err(), locks.ErrLeaseLost); ended != ends {
					t.Errorf("policy %v: the term ends with %v", policy, one.Err())
				}
			}
			p.link.Heal()
			again := awaitTerm(t, l)
			synctest.Wait()
			if want := map[bool]int{false: 1, true: 3}[ends]; len(changes) != want || (again == term) == ends {
				t.Errorf("policy %v: heard %v, want %d changes", policy, changes, want)
			}
			wantNodes(t, server, 1)
		})
	}
}

// Java's latch, which keeps its node, would lead again.
func TestBlipUnderTheStandardPolicyHandsTheLeadershipOn(t *testing.T) {
	inBubble(t, func(t *testing.T, server *zktest.Server) {
		p := newPeer(t, server, framework.WithErrorPolicy(framework.StandardErrorPolicy))
		leads := start(t, p.latch())
		awaitTerm(t, leads)
		next := start(t, newPeer(t, server).latch())
		p.link.Cut()
		synctest.Wait()
		p.link.Heal()
		awaitTerm(t, next)
		time.Sleep(time.Minute)
		wantNodes(t, server, 2)
		if leads.HasLeadership() || !next.HasLeadership() {
			t.Errorf("got leaderships %v, %v, want that of the one that waited", leads.HasLeadership(), next.HasLeadership())
		}
	})
}

func TestLatchClosedDuringItsCreateLeavesNoNode(t *testing.T) {
	inBubble(t, func(t *testing.T, server *zktest.Server) {
		p := newPeer(t, server)
		l := p.latch()
		release := server.HoldRequest(zktest.Match{Op: zktest.OpCreate2, Path: path + "/*"})
		starts := begin(t, func() error { return l.Start(t.Context()) })
		closes := begin(t, l.Close)
		release()
		wantErr(t, starts(), leader.ErrNotStarted)
		wantErr(t, closes(), nil)
		time.Sleep(time.Minute)
		wantNodes(t, server, 0)
	})
}

func TestNoneLeadsWithoutAServer(t *testing.T) {
	inBubble(t, func(t *testing.T, server *zktest.Server) {
		all, _ := latches(t, server, 10)
		awaitTerm(t, all[0])
		server.RefuseConnections(true)
		server.CutAll()
		time.Sleep(sessionTimeout)
		if got := leadsOf(all); got != 0 {
			t.Errorf("%d lead without a server", got)
		}
		server.RefuseConnections(false)
		time.Sleep(time.Minute)
		if got := leadsOf(all); got != 1 {
			t.Errorf("%d lead", got)
		}
		wantNodes(t, server, 10)
	})
}

// Those that wait are not called, those that stop listening before Close hear no end.
func TestTenLatchesHearOfTheirOwnTermsAlone(t *testing.T) {
	inBubble(t, func(t *testing.T, server *zktest.Server) {
		var begun, ended atomic.Int32
		var stops []func()
		all, _ := latches(t, server, 10)
		for _, l := range all {
			stops = append(stops, l.OnChange(func(term *locks.Lease) {
				if term != nil {
					begun.Add(1)
				} else {
					ended.Add(1)
				}
			}))
		}
		synctest.Wait()
		wantErr(t, all[9].Close(), nil) // it waits
		for i, l := range all[:9] {
			awaitTerm(t, l)
			synctest.Wait()
			if i < 3 {
				stops[i]()
			}
			wantErr(t, l.Close(), nil)
		}
		synctest.Wait()
		if begun.Load() != 9 || ended.Load() != 6 {
			t.Errorf("heard of %d beginnings and %d ends, want 9 and 6", begun.Load(), ended.Load())
		}
	})
}

func TestStartWaitsForAServer(t *testing.T) {
	inBubble(t, func(t *testing.T, server *zktest.Server) {
		server.RefuseConnections(true)
		link := server.NewLink()
		client, err := framework.NewClient("zktest:2181", framework.WithDialer(link.DialContext), framework.WithConnectionTimeout(time.Minute))
		must(t, err)
		t.Cleanup(func() { _ = client.Close() })
		l := leader.NewLeaderLatch(client, path)
		changes := 0
		l.OnChange(func(*locks.Lease) { changes++ })
		started := begin(t, func() error { return l.Start(t.Context()) })
		time.Sleep(30 * time.Second)
		server.RefuseConnections(false)
		wantErr(t, started(), nil)
		awaitTerm(t, l)
		synctest.Wait()
		if changes != 1 {
			t.Errorf("heard %d changes, want 1", changes)
		}
		wantErr(t, l.Close(), nil)
	})
}
