package overlap

import (
	"fmt"
	"strings"
	"testing"

	"github.com/gocurator/curator/examples/zklock/holds/records"
	"github.com/gocurator/curator/examples/zklock/internal/history"
	"github.com/gocurator/curator/examples/zklock/internal/survey"
	"github.com/gocurator/curator/examples/zklock/txnlog"
)

// crowded is a lock of which the holds of one node all lasted at one time.
func crowded(kind survey.Kind, holds int) Input {
	in := Input{From: 1, To: 100, LimitKnown: true, Lock: history.Lock{Path: "/a", Limit: 20, Contenders: []history.Contender{{
		Path: "/a", Node: "n", Kind: kind, Session: 10, Token: 10, Czxid: 10, LetIn: txnlog.Moment{Zxid: 10},
		Ended: txnlog.Moment{Zxid: 20}, How: history.Expired,
	}}}}
	for i := range holds {
		in.Records = append(in.Records, records.Record{
			Path: "/a", Node: "n", Session: 10, Czxid: 10, Count: int64(i), How: records.Released,
			Begin: records.Moment{Zxid: 10}, End: records.Moment{Zxid: 90},
		})
	}
	return in
}

func TestOverlapsAreCountedUpToALimit(t *testing.T) {
	got := Judge(crowded(survey.Mutex, 2000))
	if text := Text([]Result{got}, nil); got.Overlaps < mostCounted || got.Overlaps > mostCounted+mostOpen || got.Verdict != Overlapped ||
		!strings.HasPrefix(text, fmt.Sprintf("/a: at least %d overlapped, ", mostCounted)) {
		t.Errorf("got %q and %d, want %q and about %d:\n%.200s", got.Verdict, got.Overlaps, Overlapped, mostCounted, text)
	}
}

// The holds of a list that is cut short are not called apart.
func TestComparisonsAreBoundedAndTheRestIsUndecided(t *testing.T) {
	for _, kind := range []survey.Kind{survey.Mutex, survey.Reader, survey.Lease} {
		in := crowded(kind, 15)
		j := judge{mostCompared: 10, Result: Result{Verdict: Apart}}
		var all []*Hold
		for i := range in.Records {
			all = append(all, &Hold{Record: in.Records[i], kind: kind, Bounds: [4]int64{10, 20, 10, 0}})
		}
		if kind == survey.Lease {
			j.count(all, 20, true)
		} else {
			all[0].kind = survey.Mutex
			j.exclude(all)
		}
		if last := len(j.Groups) - 1; last < 0 || !strings.HasPrefix(j.Groups[last].Why, "too many holds") || j.compared > 40 {
			t.Errorf("%s: got %+v after %d comparisons, want that the rest is left out after about 10", kind, j.Groups, j.compared)
		}
	}
}
