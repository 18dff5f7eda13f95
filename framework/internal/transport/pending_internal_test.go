package transport

import (
	"math/rand/v2"
	"slices"
	"testing"
	"time"
)

// A line is compared with a plain slice of the numbers that wait, under random pushes, writes and answers.
func TestALineFindsWhatWasWrittenAndNotAnswered(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	var q pendingRequests
	var written, queued []int32
	ordinary := func(xid int32) bool { return xid >= 0 }
	next, clock := int32(0), time.Unix(0, 0)
	for range 100_000 {
		switch random.IntN(4) {
		case 0, 1:
			if len(written)+len(queued) < 20 || random.IntN(50) == 0 {
				xid := next
				if next++; random.IntN(10) == 0 {
					xid = xidPing
				}
				q.push(pending{xid: xid})
				queued = append(queued, xid)
			}
		case 2:
			clock = clock.Add(1)
			q.stamp(clock)
			written, queued = append(written, queued...), nil
		case 3:
			if len(queued) > 0 && (ordinary(queued[0]) || !slices.Contains(written, xidPing)) {
				if _, ok := q.take(queued[0]); ok {
					t.Fatalf("got an answer taken for request %d, which was not written; want it refused", queued[0])
				}
			}
			for range random.IntN(len(written) + 1) {
				i := random.IntN(len(written))
				oldest := slices.IndexFunc(written, ordinary)
				if ordinary(written[i]) && i != oldest {
					if _, ok := q.take(written[i]); ok {
						t.Fatalf("%d is answered before %d", written[i], written[oldest])
					}
					i = oldest
				} else if !ordinary(written[i]) {
					i = slices.Index(written, xidPing)
				}
				p, ok := q.take(written[i])
				if !ok || p.xid != written[i] || p.sent.IsZero() || p.sent.After(clock) {
					t.Fatalf("%d: got %+v, %v", written[i], p, ok)
				}
				written = append(written[:i], written[i+1:]...)
			}
		}
	}
	rest := q.takeAll()
	want := append(written, queued...)
	if len(rest) != len(want) {
		t.Fatalf("%d are left, want %d", len(rest), len(want))
	}
	for i, p := range rest {
		if p.xid != want[i] || p.sent.IsZero() != (i >= len(written)) {
			t.Errorf("%d is left at %d, want %d", p.xid, i, want[i])
		}
	}
}

// One request after the other must not cost a new slice each.
func TestALineUsesItsMemoryAgain(t *testing.T) {
	var q pendingRequests
	if got := testing.AllocsPerRun(100, func() {
		for xid := range int32(100) {
			q.push(pending{xid: 2 * xid})
			q.push(pending{xid: 2*xid + 1})
			q.stamp(time.Unix(1, 0))
			q.take(2 * xid)
			q.take(2*xid + 1)
		}
	}); got != 0 {
		t.Errorf("%v allocations", got)
	}
}

// The answer to a ping that was written together with a request may have come ahead of it by right: it stood first.
func TestOnlyAPingThatWasWrittenLaterOvertakesARequest(t *testing.T) {
	written := time.Unix(100, 0)
	for _, c := range []struct {
		pinged time.Time
		want   bool
	}{{time.Time{}, false}, {written.Add(-1), false}, {written, false}, {written.Add(1), true}} {
		q := pendingRequests{pinged: c.pinged}
		q.push(pending{xid: 7, op: opSync})
		q.stamp(written)
		if _, got := q.overtaken(); got != c.want {
			t.Errorf("a ping of %v, a request of %v: got overtaken %t, want %t", c.pinged, written, got, c.want)
		}
	}
}
