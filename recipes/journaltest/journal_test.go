package journaltest_test

import (
	"encoding/json"
	"maps"
	"reflect"
	"slices"
	"testing"
	"time"

	"github.com/gocurator/curator/framework/session"
	"github.com/gocurator/curator/framework/zktest"
	"github.com/gocurator/curator/recipes/internal/steps"
	"github.com/gocurator/curator/recipes/journaltest"
)

// A source is a client that has nothing but values.
type source struct{ values session.Attachments }

func (s *source) Attachments() *session.Attachments { return &s.values }

func TestAJournalHasWhatHappenedInItsOrder(t *testing.T) {
	zktest.Bubble(t, func(t *testing.T) {
		var j journaltest.Journal
		a, b := &source{}, &source{}
		j.Attach(a, "A")
		j.Attach(b, "B")
		begun := time.Now()
		steps.Of(b).Step(step{Kind: steps.Waits})
		time.Sleep(time.Second)
		transaction := zktest.Transaction{Zxid: 7, At: begun}
		j.Transaction(transaction)
		steps.Of(a).Step(step{Kind: steps.Leaves})
		j.OrphanFound("A")("/orphan")
		j.Kill(5)
		now := begun.Add(time.Second)
		want := []event{
			{At: begun, Client: "B", Step: &step{Kind: steps.Waits}},
			{At: now, Transaction: &transaction},
			{At: now, Client: "A", Step: &step{Kind: steps.Leaves}},
			{At: now, Client: "A", Orphan: "/orphan"},
			{At: now, Killed: 5},
		}
		if got := j.Events(); !reflect.DeepEqual(got, want) {
			t.Errorf("got %+v, want %+v", got, want)
		}
		wantKinds := map[steps.Kind]int{steps.Waits: 1, steps.Leaves: 1}
		if got := journaltest.Kinds(j.Events()); !maps.Equal(got, wantKinds) {
			t.Errorf("got kinds %v, want %v", got, wantKinds)
		}
		j.Events()[0].Client = "changed"
		if got := j.Events()[0].Client; got != "B" {
			t.Errorf("got the client %q after a caller changed its events, want B", got)
		}
	})
}

func TestTheEndOfALeaseIsNoLaterThanItsValidity(t *testing.T) {
	zktest.Bubble(t, func(t *testing.T) {
		now := time.Now()
		for name, test := range map[string]struct {
			valid func() time.Time
			want  time.Time
		}{
			"without validity":      {nil, now},
			"before its validity":   {func() time.Time { return now.Add(time.Second) }, now},
			"noticed later than it": {func() time.Time { return now.Add(-time.Second) }, now.Add(-time.Second)},
		} {
			var j journaltest.Journal
			j.Of("A").Step(step{Kind: steps.Ended, Valid: test.valid})
			if got := j.Events()[0].Step; !got.Until.Equal(test.want) || got.Valid != nil {
				t.Errorf("%s: got an end at %v, with a function: %v, want %v without", name, got.Until, got.Valid != nil, test.want)
			}
		}
	})
}

func TestMergeOrdersByTimeAndTransactionsFirst(t *testing.T) {
	millisecond := func(n int) time.Time { return at(float64(n) / 1000) }
	transactions := []zktest.Transaction{{Zxid: 1, At: millisecond(1)}, {Zxid: 2, At: millisecond(3)}, {Zxid: 3, At: millisecond(3)}}
	a := []event{{Client: "A1", At: millisecond(1)}, {Client: "A3", At: millisecond(3)}, {Client: "A3 again", At: millisecond(3)}}
	b := []event{{Client: "B2", At: millisecond(2)}, {Client: "B3", At: millisecond(3).Add(time.Microsecond)}}
	many := make([]event, 20) // in their order, before all the others
	for i := range many {
		many[i].Orphan = string(rune('a' + i))
	}
	merged := journaltest.Merge(transactions, many, b, a)
	if got := merged[:len(many)]; !reflect.DeepEqual(got, many) {
		t.Errorf("got the first events %+v, want %+v", got, many)
	}
	var got []string
	for _, e := range merged[len(many):] {
		if e.Transaction != nil {
			got = append(got, []string{"", "first", "second", "third"}[e.Transaction.Zxid])
			continue
		}
		got = append(got, e.Client)
	}
	want := []string{"first", "A1", "B2", "second", "third", "A3", "A3 again", "B3"}
	if !slices.Equal(got, want) {
		t.Errorf("got the order %q, want %q", got, want)
	}
}

// Processes write their events to files.
func TestEventsComeBackFromJSON(t *testing.T) {
	now := time.Date(2000, 1, 1, 0, 0, 0, 1, time.UTC)
	want := []event{
		{At: now, Client: "A", Step: &step{
			Kind: steps.Ended, Dir: dir, Node: lock(1), Session: -1 << 62, Hold: 3, Names: []string{lock(1)}, Markers: markers,
			Local: "local", Zxid: 1<<62 + 1, Admitted: true, Err: "lost", Until: now,
		}},
		{At: now, Transaction: &zktest.Transaction{
			Zxid: 1<<62 + 1, At: now, Session: 5, Request: 6, Failed: true, EndsSession: true,
			Changes: []zktest.Change{{Kind: zktest.Deleted, Path: "/q/x", Owner: 5, Data: []byte{0, 255}}},
		}},
		{At: now, Client: "A", Orphan: "/q/x"},
		{At: now, Killed: -5},
	}
	text, err := json.Marshal(append([]event{{At: now, Step: &step{Valid: time.Now}}}, want...))
	if err != nil {
		t.Fatal(err)
	}
	var got []event
	if err := json.Unmarshal(text, &got); err != nil {
		t.Fatal(err)
	}
	if !reflect.DeepEqual(got[1:], want) {
		t.Errorf("got %s, of %+v, want %+v", text, got[1:], want)
	}
}
