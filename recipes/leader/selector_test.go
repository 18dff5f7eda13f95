package leader_test

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/framework/zktest"
	"github.com/gocurator/curator/recipes/leader"
	"github.com/gocurator/curator/recipes/locks"
)

func TestSelectorAndMutexAtOnePathExcludeEachOther(t *testing.T) {
	inBubble(t, func(t *testing.T, server *zktest.Server) {
		p, other := newPeer(t, server), newPeer(t, server)
		mutex := locks.NewInterProcessMutex(other.Client, path)
		term := lead(t, p.selector())
		_, err := mutex.TryAcquire(t.Context())
		wantErr(t, err, locks.ErrNotAcquired)
		must(t, term.Release())
		lease, err := mutex.Acquire(t.Context())
		must(t, err)
		elected := begin(t, func() error { return p.selector().RunOnce(t.Context(), nothing) })
		time.Sleep(time.Minute)
		if lease.Err() != nil || len(server.Children(path)) != 2 {
			t.Errorf("the selector does not wait: %v, %v", lease.Err(), server.Children(path))
		}
		must(t, lease.Release())
		wantErr(t, elected(), nil)
	})
}

// Java shows the data of a node as the participant's id: the address of its machine, unless an id was set.
func TestWithoutAnIDTheNodeHasTheDefaultData(t *testing.T) {
	inBubble(t, func(t *testing.T, server *zktest.Server) {
		for id, want := range map[string]string{"": "the address", "a": "a"} {
			p := newPeer(t, server, framework.WithDefaultData([]byte("the address")))
			term := lead(t, p.selector(leader.WithID(id)))
			data, _ := server.Data(path + "/" + term.NodeName())
			if string(data) != want {
				t.Errorf("id %q: got data %q, want %q", id, data, want)
			}
			wantErr(t, term.Release())
		}
	})
}

func TestNobodyLeadsAtAPathWithoutParticipants(t *testing.T) {
	inBubble(t, func(t *testing.T, server *zktest.Server) {
		s := newPeer(t, server).selector()
		for _, made := range []bool{false, true} {
			if made {
				for _, dir := range []string{"/leaders", path, path + "/0", path + "/block-0000000001", path + "/latch-0000000001"} {
					must(t, server.Create(dir, nil))
				}
			}
			_, err := s.Leader(t.Context())
			wantErr(t, err, leader.ErrNoLeader)
			if all, err := s.Participants(t.Context()); err != nil || len(all) != 0 {
				t.Errorf("got %v, %v", all, err)
			}
		}
		lead(t, s) // strangers do not block
	})
}

func TestHasLeadershipFollowsTheSelectorsOwnTerms(t *testing.T) {
	inBubble(t, func(t *testing.T, server *zktest.Server) {
		p := newPeer(t, server)
		s, sibling := p.selector(), p.selector()
		want := func(when string, want bool) {
			t.Helper()
			if got := s.HasLeadership(); got != want {
				t.Errorf("%s: got %t", when, got)
			}
		}
		want("before", false)
		outer, err := s.Campaign(t.Context())
		must(t, err)
		inner, err := s.Campaign(outer.Context(t.Context()))
		must(t, err)
		want("within", true)
		if sibling.HasLeadership() {
			t.Error("got another selector of the same client leading, want one")
		}
		wantErr(t, inner.Release(), nil)
		want("after the inner term", true)
		wantErr(t, outer.Release(), nil)
		want("after the outer term", false)
		synctest.Wait()
		if got := s.Terms(); got != 0 {
			t.Errorf("%d terms are kept", got)
		}
		term := lead(t, s)
		p.link.Mute()
		for server.Exists(path + "/" + term.NodeName()) {
			time.Sleep(10 * time.Millisecond)
		}
		want("cut off", false)
	})
}

func TestHasLeadershipOutlastsTheContextOfItsCampaign(t *testing.T) {
	inBubble(t, func(t *testing.T, server *zktest.Server) {
		s := newPeer(t, server).selector()
		ctx, cancel := context.WithCancel(t.Context())
		term, err := s.Campaign(ctx)
		must(t, err)
		cancel()
		synctest.Wait()
		if !s.HasLeadership() || term.Err() != nil {
			t.Errorf("got leadership %t, a term that ended with %v; want a term that lasts", s.HasLeadership(), term.Err())
		}
		wantErr(t, term.Release(), nil)
	})
}

func TestLeaderCostsAListingAndARead(t *testing.T) {
	inBubble(t, func(t *testing.T, server *zktest.Server) {
		lead(t, newPeer(t, server).selector())
		for range 5 {
			p := newPeer(t, server)
			go func() { _, _ = p.selector().Campaign(t.Context()) }()
		}
		synctest.Wait()
		s := newPeer(t, server).selector()
		total := 0
		stop := server.Observe(func(r zktest.Request) {
			if r.Op != zktest.OpPing {
				total++
			}
		})
		defer stop()
		if _, err := s.Leader(t.Context()); err != nil {
			t.Fatal(err)
		}
		if total != 2 {
			t.Errorf("got %d requests, want 2", total)
		}
	})
}

func TestMisuseIsReportedByEveryCall(t *testing.T) {
	inBubble(t, func(t *testing.T, server *zktest.Server) {
		p := newPeer(t, server)
		for name, s := range map[string]*leader.LeaderSelector{
			"nil client":    leader.NewLeaderSelector(nil, path),
			"invalid path":  leader.NewLeaderSelector(p.Client, "a"),
			"nil option":    leader.NewLeaderSelector(p.Client, path, nil),
			"revocation":    leader.NewLeaderSelector(p.Client, path, leader.WithID("__REVOKE__")),
			"several wrong": leader.NewLeaderSelector(nil, path, nil, leader.WithID("__REVOKE__")),
		} {
			_, campaign := s.Campaign(t.Context())
			_, leads := s.Leader(t.Context())
			_, all := s.Participants(t.Context())
			var observed error
			for _, observed = range s.Observe(t.Context()) {
			}
			for call, err := range map[string]error{
				"Campaign": campaign, "Leader": leads, "Participants": all, "Observe": observed,
				"RunOnce": s.RunOnce(t.Context(), nothing), "Run": s.Run(t.Context(), nothing),
			} {
				if err == nil {
					t.Errorf("%s: %s succeeds", name, call)
				}
			}
			if s.HasLeadership() {
				t.Errorf("%s: leads", name)
			}
		}
		if p.selector().RunOnce(t.Context(), nil) == nil || p.selector().Run(t.Context(), nil) == nil {
			t.Error("got no error for a nil function, want one")
		}
		wantErr(t, leader.NewLeaderSelector(p.Client, "/zookeeper/x").Run(t.Context(), nothing), framework.ErrInvalidPath)
		large := p.selector(leader.WithID(string(make([]byte, 2<<20))))
		begun := time.Now()
		wantErr(t, large.Run(t.Context(), nothing), framework.ErrTooLarge)
		if took := time.Since(begun); took > 0 {
			t.Errorf("got an id that is too large refused after %v, want no second try", took)
		}
	})
}
