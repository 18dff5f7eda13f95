package locks

import (
	"testing"
	"time"

	"github.com/gocurator/curator/framework/zktest"
	"github.com/gocurator/curator/recipes/internal/steps"
)

// silenceLeader returns when the leader has not answered for so long that the listing may be old. The server, which
// refuses to renew the session, answers.
func (t *handoverTest) silenceLeader() {
	t.Helper()
	for range 10 {
		t.server.ThrottleRequest(zktest.Match{Op: zktest.OpMulti})
	}
	s, err := t.client.Session(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for range 1000 {
		if s.SinceLeaderContact() >= s.Timeout()*3/8 {
			return
		}
		time.Sleep(10 * time.Millisecond)
	}
	t.Fatal("got answers of the leader for ten seconds, want none")
}

// handed returns a hold of a node that was handed over once, with another contender that waits for it.
func (t *handoverTest) handed(opts ...RetainOption) (hold *Lease, waiter <-chan acquired) {
	t.Helper()
	t.mutex = NewInterProcessMutex(t.client, handoverPath).Retained(opts...)
	first := t.acquire()
	second := t.begin(t.Context())
	time.Sleep(60 * time.Millisecond) // the node is watched
	t.release(first)
	return t.get(second), t.begin(t.Context())
}

// With a leader that answers the node is handed over beyond both bounds, since no other client waits.
func TestBoundsCountWhileTheLeaderIsSilent(t *testing.T) {
	for name, silent := range map[string]bool{"it answers": false, "it is silent": true} {
		t.Run(name, func(t *testing.T) {
			inHandoverTest(t, func(t *handoverTest) {
				hold, waiter := t.handed(RetainHandOvers(1))
				if silent {
					t.silenceLeader()
				} else {
					time.Sleep(time.Second)
				}
				t.release(hold)
				next := t.get(waiter)
				if got := next.FencingToken() == hold.FencingToken(); got == silent {
					t.Errorf("handed over: got %v, want %v", got, !silent)
				}
				t.release(next)
			})
		})
	}
}

// A node is held back until it is known whether others wait. The listing alone does not say so while the leader is
// silent, and is not asked again and again.
func TestHeldBackNodeWaitsForTheLeader(t *testing.T) {
	inHandoverTest(t, func(t *handoverTest) {
		hold, waiter := t.handed(RetainHandOvers(1), RetainBusy(time.Minute))
		t.silenceLeader()
		decisions := 0
		t.act(func(after steps.Kind) {
			if after == steps.Judged {
				decisions++
			}
			if decisions > 100 {
				t.Fatalf("got %d decisions about a node that is held back, want one", decisions)
			}
		})
		t.release(hold)
		t.waits(waiter)
		next := t.get(waiter) // the client has turned to another server, which renews the session
		if next.FencingToken() != hold.FencingToken() {
			t.Errorf("got token %d, want %d of the node that was held back", next.FencingToken(), hold.FencingToken())
		}
		t.release(next)
	})
}
