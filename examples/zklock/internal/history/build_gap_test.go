package history_test

import (
	"slices"
	"testing"
	"time"

	"github.com/gocurator/curator/examples/zklock/internal/history"
	"github.com/gocurator/curator/examples/zklock/txnlog"
	"github.com/gocurator/curator/framework/zktest"
)

// withGap is a hold of session 1 that ended in a gap, before session 3 came, with session 2 behind it.
func withGap() []zktest.Transaction {
	all := replay("create 1 lock-01", "create 2 lock-02", "delete 1 lock-01", "create 3 lock-03")
	all[2] = zktest.Transaction{Zxid: 3, Changes: []zktest.Change{{Kind: zktest.Deleted, Path: at("lock-01"), Owner: 1}}}
	return all
}

func TestWhatHappenedInAGapHasNoTime(t *testing.T) {
	h := history.Of("/l", slices.Values(withGap()), history.Options{})
	inGap := txnlog.Moment{Zxid: 3}
	first, second := h.Locks[0].Contenders[0], h.Locks[0].Contenders[1]
	if first.Ended != inGap || first.How != history.Unknown || second.LetIn != inGap {
		t.Errorf("got an end at %v, %q, and the next let in at %v, want %v, %q and %v", first.Ended, first.How, second.LetIn, inGap, history.Unknown, inGap)
	}
	for name, of := range map[string]func(time.Time) (time.Duration, bool){"held": first.Held, "waited": second.Waited, "the next held": second.Held} {
		if d, known := of(h.To.At); known || d != 0 {
			t.Errorf("%s: got %v, %t, want it not to be known", name, d, known)
		}
	}
	if d, known := first.Waited(h.To.At); !known || d != 0 {
		t.Errorf("got %v, %t, want the first not to have waited", d, known)
	}
}

func TestAnEndInAGapIsLeftOutIfTheGapIsBeforeTheTimeAskedFor(t *testing.T) {
	for from, want := range map[int]int{3: 3, 4: 3, 5: 2} { // the gap ends before second 4
		h := history.Of("/l", slices.Values(withGap()), history.Options{From: noon.Add(time.Duration(from) * time.Second)})
		if got := len(h.Locks[0].Contenders); got != want {
			t.Errorf("from second %d: got %d contenders, want %d", from, got, want)
		}
	}
}
