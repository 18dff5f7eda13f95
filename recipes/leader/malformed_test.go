package leader_test

import (
	"context"
	"testing"
	"time"

	"github.com/gocurator/curator/recipes/internal/malformtest"
	"github.com/gocurator/curator/recipes/leader"
)

// TestMalformedFramesDoNoHarm spoils one frame after the other that a client gets from its server which stands for
// election, leads, or observes who does. It prints the counts by outcome:
//
//	go test ./recipes/leader -run TestMalformedFramesDoNoHarm -v
func TestMalformedFramesDoNoHarm(t *testing.T) {
	t.Run("latch", func(t *testing.T) { latchStory().Play(t) })
	t.Run("selector", func(t *testing.T) { selectorStory().Play(t) })
}

// latchStory is a client whose latch stands beside another's. The latch that was there must lead in the end.
func latchStory() *malformtest.Story {
	return &malformtest.Story{
		Parts: malformtest.ForLong(
			malformtest.Part{Name: "standing", Live: stands, Kinds: []string{malformtest.FrameCreate, malformtest.FrameListing}},
			malformtest.Part{Name: "waiting", Live: standsBehind, Kinds: []string{malformtest.FrameGet, malformtest.FrameEvent}},
			malformtest.Part{Name: "leading", Live: leads(false), Kinds: []string{malformtest.FrameGet, malformtest.FrameMulti}},
			malformtest.Part{Name: "losing", Live: leads(true), Kinds: []string{malformtest.FrameMulti, malformtest.FramePing}},
			malformtest.Part{Name: "leaving", Live: leavesOffice, Kinds: []string{malformtest.FrameDelete}},
		),
	}
}

// startLatch starts the client's latch, and has the run recover by it.
func startLatch(r *malformtest.Run) *leader.LeaderLatch {
	latch := leader.NewLeaderLatch(r.Client, path, leader.WithID("client"))
	started := r.Bounded("Start", malformtest.SpoilTime, latch.Start) == nil
	r.RecoverBy(func(ctx context.Context, r *malformtest.Run) error {
		if !started {
			if err := latch.Start(ctx); err != nil {
				return err
			}
			started = true
		}
		_, err := latch.Await(ctx)
		for err != nil && ctx.Err() == nil { // the last campaign has failed, and the next one comes
			time.Sleep(time.Second)
			_, err = latch.Await(ctx)
		}
		if err == nil {
			closeLatch(r, latch)
		}
		return err
	})
	return latch
}

func closeLatch(r *malformtest.Run, latch *leader.LeaderLatch) {
	_ = r.Bounded("Close", malformtest.ConnectTimeout, func(context.Context) error { return latch.Close() })
}

// other starts a latch of the other client.
func other(r *malformtest.Run) *leader.LeaderLatch {
	latch := leader.NewLeaderLatch(r.Honest, path, leader.WithID("other"))
	if err := latch.Start(r.T.Context()); err != nil {
		r.T.Fatal(err)
	}
	return latch
}

func stands(r *malformtest.Run) {
	r.Arm()
	latch := startLatch(r)
	_ = r.Bounded("Await", malformtest.SpoilTime, func(ctx context.Context) error {
		_, err := latch.Await(ctx)
		return err
	})
}

// standsBehind has the client stand behind the other, which leaves after half of the time.
func standsBehind(r *malformtest.Run) {
	first := other(r)
	r.Arm()
	latch := startLatch(r)
	time.Sleep(malformtest.SpoilTime / 2)
	if latch.HasLeadership() && first.HasLeadership() {
		r.Bad(malformtest.OutcomeGrant, "both latches lead")
	}
	closeLatch(r, first)
	time.Sleep(malformtest.SpoilTime / 2)
}

// leads has the client lead while the other waits for it to leave or, if lose, to lose the leadership.
func leads(lose bool) func(r *malformtest.Run) {
	return func(r *malformtest.Run) {
		latch := startLatch(r)
		term, err := latch.Await(r.T.Context())
		if err != nil {
			r.T.Fatal(err)
		}
		var o malformtest.Occupancy
		o.Enter(r, "client", term)
		next := other(r)
		waited := make(chan struct{})
		ctx, cancel := context.WithTimeout(r.T.Context(), malformtest.SpoilTime)
		defer cancel()
		go func() {
			defer close(waited)
			if term, err := next.Await(ctx); err == nil {
				o.Enter(r, "other", term)
			}
		}()
		r.Arm()
		if lose {
			r.Server.CutAll()
		}
		<-waited
		closeLatch(r, next)
	}
}

// leavesOffice has the client close its latch while the other waits, and stand again by another latch.
func leavesOffice(r *malformtest.Run) {
	latch := startLatch(r)
	if _, err := latch.Await(r.T.Context()); err != nil {
		r.T.Fatal(err)
	}
	next := other(r)
	r.Arm()
	closeLatch(r, latch)
	err := r.Bounded("Await", malformtest.SpoilTime, func(ctx context.Context) error {
		_, err := next.Await(ctx)
		return err
	})
	if err != nil {
		r.Bad(malformtest.OutcomeLocked, "the next latch does not lead: %v", err)
	}
	closeLatch(r, next)
	startLatch(r)
}

// selectorStory is a client that leads in turns with another, and one that observes who leads.
func selectorStory() *malformtest.Story {
	return &malformtest.Story{
		Recover: func(ctx context.Context, r *malformtest.Run) error {
			return leader.NewLeaderSelector(r.Client, path).RunOnce(ctx, func(context.Context) error { return nil })
		},
		Parts: []malformtest.Part{
			{Name: "in turns", Live: inTurns, Kinds: []string{
				malformtest.FrameCreate, malformtest.FrameListing, malformtest.FrameWatches, malformtest.FrameEvent, malformtest.FrameDelete,
			}},
			{Name: "observing", Live: observes, Kinds: []string{
				malformtest.FrameListing, malformtest.FrameGet, malformtest.FrameEvent,
			}},
		},
	}
}

// inTurns has both clients run for a while, and leave after each second of a term.
func inTurns(r *malformtest.Run) {
	var o malformtest.Occupancy
	ctx, cancel := context.WithTimeout(r.T.Context(), malformtest.SpoilTime/2)
	defer cancel()
	lead := func(who string) func(ctx context.Context) error {
		return func(ctx context.Context) error {
			o.Enter(r, who, leader.LeaseFromContext(ctx))
			select {
			case <-time.After(time.Second):
			case <-ctx.Done():
			}
			return nil
		}
	}
	r.Arm()
	done := make(chan struct{})
	go func() {
		defer close(done)
		_ = leader.NewLeaderSelector(r.Honest, path).Run(ctx, lead("other"))
	}()
	_ = r.Bounded("Run", malformtest.SpoilTime/2, func(ctx context.Context) error {
		return leader.NewLeaderSelector(r.Client, path).Run(ctx, lead("client"))
	})
	<-done
}

// observes has the client follow who leads, while latches of the other client come and go. The last of them must be
// heard of.
func observes(r *malformtest.Run) {
	r.Arm()
	ctx, cancel := context.WithTimeout(r.T.Context(), malformtest.SpoilTime)
	defer cancel()
	seen := make(chan string, 100)
	done := make(chan struct{})
	go func() {
		defer close(done)
		for ctx.Err() == nil { // an observation that the server has refused starts again
			for p, err := range leader.NewLeaderLatch(r.Client, path).Observe(ctx) {
				if err != nil {
					time.Sleep(time.Second)
					break
				}
				seen <- p.ID
			}
		}
	}()
	for _, id := range []string{"first", "second", "last"} {
		latch := leader.NewLeaderLatch(r.Honest, path, leader.WithID(id))
		if err := latch.Start(ctx); err != nil {
			r.T.Error(err)
		}
		time.Sleep(malformtest.SpoilTime / 5)
		if id != "last" {
			closeLatch(r, latch)
			continue
		}
		defer closeLatch(r, latch)
	}
	<-done
	close(seen)
	newest := ""
	for id := range seen {
		newest = id
	}
	if newest != "last" {
		r.Bad(malformtest.OutcomeFalse, "the observer believes that %q leads, want the last", newest)
	}
}
