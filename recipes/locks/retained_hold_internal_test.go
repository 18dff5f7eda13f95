package locks

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/gocurator/curator/recipes/internal/steps"
)

// The base is lost after the hold has subscribed to its end, and before the residence has the hold: the loss finds no
// hold to detach, and the residence no front to be.
func TestNodeThatIsLostWhileItsHoldBeginsHasNoHold(t *testing.T) {
	for name, test := range map[string]struct {
		at    steps.Kind
		first bool // the node's first hold
	}{
		"first": {steps.Bound, true}, "handed over": {steps.Handed, false},
	} {
		t.Run(name, func(t *testing.T) {
			inHandoverTest(t, func(t *handoverTest) {
				var lost []Lost
				trace := WithTrace(Trace{Lost: func(l Lost) { lost = append(lost, l) }})
				t.mutex = NewInterProcessMutex(t.client, handoverPath, trace).Retained()
				removed := ""
				remove := func() {
					removed = t.server.Children(handoverPath)[0]
					time.Sleep(60 * time.Millisecond) // the node is watched
					if err := t.server.Delete(handoverPath + "/" + removed); err != nil {
						t.Error(err)
					}
					synctest.Wait()
				}
				var first *Lease
				if test.first {
					bases := 1 // the base is bound first, and then the hold
					t.act(func(after steps.Kind) {
						if after != test.at {
							return
						}
						if bases--; bases < 0 {
							t.acts.Store(nil)
							remove()
						}
					})
				} else {
					first = t.acquire()
					t.meanwhile(test.at, remove)
				}
				waiter := t.begin(t.Context())
				if first != nil {
					t.release(first)
				}
				lease := t.get(waiter)
				if lease.NodeName() == removed || lease.Err() != nil {
					t.Errorf("got node %s, %v, want another one than %s", lease.NodeName(), lease.Err(), removed)
				}
				names := t.mutex.recipe.queue.Registry.GrantNames(t.mutex.recipe.id)
				if len(names) != 1 || !names[lease.NodeName()] {
					t.Errorf("got grants %v, want the lease's alone, of node %s", names, lease.NodeName())
				}
				synctest.Wait()
				if len(lost) != 1 || lost[0].Node != removed {
					t.Errorf("got the losses %+v, want one, of node %s", lost, removed)
				}
				t.release(lease)
			})
		})
	}
}

func TestReleasedHoldListensNoMore(t *testing.T) {
	inHandoverTest(t, func(t *handoverTest) {
		lease := t.acquire()
		local := residenceOf(lease).queue
		contended := lease.Contended()
		t.release(lease)
		next := t.acquire()
		waiter := t.begin(t.Context())
		select {
		case <-contended:
			t.Error("got a waiter heard of after the release, want none")
		default:
		}
		if other := residenceOf(next).queue; other != local {
			t.Fatalf("got the local queue %p after %p, want the same", other, local)
		}
		t.release(next)
		t.release(t.get(waiter))
	})
}

func TestHoldHearsOfAContenderThatHasWaitedBeforeItListens(t *testing.T) {
	inHandoverTest(t, func(t *handoverTest) {
		lease := t.acquire()
		waiter := t.begin(t.Context())
		select {
		case <-lease.Contended():
		default:
			t.Error("got no notice of the waiter, want one")
		}
		t.release(lease)
		t.release(t.get(waiter))
	})
}
