package locks_test

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/gocurator/curator/framework/zktest"
	"github.com/gocurator/curator/recipes/internal/steps"
	"github.com/gocurator/curator/recipes/journaltest"
	"github.com/gocurator/curator/recipes/locks"
)

// Thousands of leases end one after the other. One whose turn has not come compares the time by itself.
func TestALeaseIsOverBeforeItsTurnToHearOfTheEnd(t *testing.T) {
	for name, look := range map[string]func(*locks.Lease) error{"Err": (*locks.Lease).Err, "Release": (*locks.Lease).Release} {
		t.Run(name, func(t *testing.T) { lookBeforeTheEnd(t, look) })
	}
}

func lookBeforeTheEnd(t *testing.T, look func(*locks.Lease) error) {
	inBubble(t, func(t *testing.T, server *zktest.Server) {
		p := newPeer(t, server)
		s, err := p.Session(t.Context())
		must(t, err)
		goOn := make(chan struct{})
		if _, err := s.Bind(func(error) { <-goOn }, nil); err != nil { // before that of the lease
			t.Fatal(err)
		}
		lease := acquire(t, p.mutex())
		p.link.Cut()
		time.Sleep(sessionTimeout)
		synctest.Wait()
		select {
		case <-lease.Done():
			t.Error("got Done closed, the test needs a lease that has not heard of its end")
		default:
		}
		wantErr(t, look(lease), locks.ErrLeaseLost)
		close(goOn)
		<-lease.Done()
	})
}

// The client hears of the loss after the decision that let the contender in, and before the lease. The contender has
// waited, and so it watches its node already.
func TestAGrantThatIsLostOnItsWayIsNoLease(t *testing.T) {
	for name, test := range map[string]struct {
		at  steps.Kind
		end func(t *testing.T, server *zktest.Server, p *peer, s steps.Step)
	}{
		"removed before it is registered":             {steps.Bound, removeNode},
		"removed after it was registered":             {steps.Admitted, removeNode},
		"its session is over before it is registered": {steps.Bound, endSession},
		"its session is over after it was registered": {steps.Admitted, endSession},
	} {
		t.Run(name, func(t *testing.T) {
			inBubble(t, func(t *testing.T, server *zktest.Server) {
				holder, p := newPeer(t, server), newPeer(t, server)
				held := acquire(t, holder.mutex())
				waiter := begin(t.Context(), t, p.mutex())
				var lost steps.Step
				p.meanwhile(test.at, func(s steps.Step) { lost = s; test.end(t, server, p, s) })
				release(t, held)
				r := soon(t, waiter)
				if r.err != nil {
					t.Fatalf("got %v, want a lease on another node than %s", r.err, lost.Node)
				}
				if got := r.lease.NodeName(); lost.Node == "" || got == lost.Node || r.lease.Err() != nil {
					t.Errorf("got a lease on %s, error %v, want one that lasts on another node than %q", got, r.lease.Err(), lost.Node)
				}
				release(t, r.lease)
				time.Sleep(2 * time.Minute) // views and refusals go
				if left := journaltest.Left(events.Events()); len(left) > 0 {
					t.Errorf("got %q left after the release, want nothing", left)
				}
			})
		})
	}
}

func removeNode(t *testing.T, server *zktest.Server, _ *peer, s steps.Step) {
	wantErr(t, server.Delete(s.Dir+"/"+s.Node))
}

func endSession(t *testing.T, server *zktest.Server, p *peer, s steps.Step) {
	session, err := p.Session(t.Context())
	if err != nil {
		t.Error(err)
		return
	}
	expire(server, s.Session)
	server.CutAll()
	<-session.Done()
}

// The session's validity ends, and the session lives on: the grant's node is removed before the grant watches that.
func TestAGrantThatEndsBeforeItIsWatchedLeavesNoWatch(t *testing.T) {
	inBubble(t, func(t *testing.T, server *zktest.Server) {
		p := newPeer(t, server)
		s, err := p.Session(t.Context())
		must(t, err)
		var lost steps.Step
		p.meanwhile(steps.Bound, func(bound steps.Step) {
			lost = bound
			p.link.Mute()
			time.Sleep(time.Until(s.ValidUntil()) + time.Millisecond)
			p.link.Heal()
		})
		lease := acquire(t, p.mutex())
		if lost.Node == "" || lease.NodeName() == lost.Node {
			t.Errorf("got a lease on %s, want one on another node than %q", lease.NodeName(), lost.Node)
		}
		release(t, lease)
		time.Sleep(2 * time.Second) // the view of an unused directory is dropped
		before := server.Counts()
		time.Sleep(10 * sessionTimeout)
		after := server.Counts()
		for _, op := range []zktest.Op{zktest.OpMulti, zktest.OpSync} {
			if n := after[op] - before[op]; n > 0 {
				t.Errorf("got %d requests %v of a client that watches nothing, want none", n, op)
			}
		}
	})
}

// The client hears of the loss a minute after the end of the hold.
func TestALossThatIsNoticedLateCountsFromItsDeadline(t *testing.T) {
	inBubble(t, func(t *testing.T, server *zktest.Server) {
		p := newPeer(t, server)
		s, err := p.Session(t.Context())
		must(t, err)
		if _, err := s.Bind(func(error) { time.Sleep(time.Minute) }, nil); err != nil { // before that of the lease
			t.Fatal(err)
		}
		lost := make(chan locks.Lost, 1)
		lease := acquire(t, p.mutex(locks.WithTrace(locks.Trace{Lost: func(l locks.Lost) { lost <- l }})))
		begun := time.Now()
		p.link.Cut()
		held := lease.ValidUntil().Sub(begun)
		if got := <-lost; got.Held != held || time.Since(begun) < time.Minute {
			t.Errorf("got a hold of %v after %v, want %v", got.Held, time.Since(begun), held)
		}
	})
}
