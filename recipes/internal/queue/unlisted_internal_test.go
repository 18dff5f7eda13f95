package queue

import (
	"math"
	"testing"
)

// A decision on entry is taken once, and not after the node is gone.
func TestADecisionOnEntryIsTakenOnce(t *testing.T) {
	withView(t, func(t *testing.T, v *sharedView, made int64) {
		v.knows(made, 4)
		v.Listed(nil, stat(made, 4, 0))
		v.Created(lockNode(4))
		v.Created(lockNode(5))
		v.Gone(lockNode(5))
		if turn, ok := v.entryDecision(lockNode(4)); !ok || !turn.Admitted {
			t.Errorf("%+v, %v", turn, ok)
		}
		for _, name := range []string{lockNode(4), lockNode(5)} {
			if turn, ok := v.entryDecision(name); ok {
				t.Errorf("%s: %+v", name, turn)
			}
		}
	})
}

func TestTheNumberOfCreations(t *testing.T) {
	for _, test := range []struct{ created, children, want int32 }{
		{0, 0, 0}, {7, 0, 7}, {7, 3, 7}, {1<<30 - 1, 5, 1<<30 - 1}, {1 << 30, 5, -1},
	} {
		if got := creations(stat(1, test.created, test.children)); got != test.want {
			t.Errorf("%+v: %d", test, got)
		}
	}
}

// From half of the numbers on, a node with a negative one may be ahead of all that the view has.
func TestNearTheEndOfTheCounterNothingIsDecidedWithoutAListing(t *testing.T) {
	for number, decided := range map[int]bool{firstDoubtful - 1: true, firstDoubtful: false, lastNumber: false, math.MaxInt32: false} {
		withView(t, func(t *testing.T, v *sharedView, made int64) {
			v.unlisted.DirCzxid, v.unlisted.Next = made, int32(number)
			v.Created(lockNode(number))
			if turn, ok := v.entryDecision(lockNode(number)); ok != decided {
				t.Errorf("%d enters: decided without a listing: %v (%+v), want %v", number, ok, turn, decided)
			}
			v.Listed([]string{lockNode(number - 1), lockNode(number)}, stat(made, int32(number), 2))
			v.Gone(lockNode(number - 1))
			if turn, ok := v.decision(Node{Name: lockNode(number), number: int32(number)}); ok != decided {
				t.Errorf("the one before %d goes: decided without a listing: %v (%+v), want %v", number, ok, turn, decided)
			}
		})
	}
}

// Older servers go on with negative numbers.
func TestANegativeNumberTellsNothing(t *testing.T) {
	withView(t, func(t *testing.T, v *sharedView, made int64) {
		v.unlisted.DirCzxid = made
		v.Created("lock--000000001")
		if turn, ok := v.entryDecision("lock--000000001"); ok {
			t.Errorf("%+v: there has been no listing", turn)
		}
	})
}

// It would be there for ever: nothing watches it.
func TestAStrangerThatIsEnteredIsInNoView(t *testing.T) {
	withView(t, func(t *testing.T, v *sharedView, made int64) {
		v.Listed(nil, stat(made, 0, 0))
		v.Created("stranger")
		v.Created(lockNode(1))
		if turn, ok := v.entryDecision(lockNode(1)); ok && !turn.Admitted {
			t.Errorf("%+v", turn)
		}
	})
}
