package cause_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/gocurator/curator/framework/internal/cause"
)

var began = time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)

func at(d time.Duration) time.Time { return began.Add(d) }

// renew records what a renewal does.
func renew(r *cause.Ring, now time.Time) {
	r.Run(now, now.Add(-20*time.Millisecond), 0)
	r.Renew(now, now, "zk1:2181")
	r.Answer(now, now.Add(time.Millisecond), "zk1:2181")
}

func TestTheRecordsOfARenewalDoNotAllocate(t *testing.T) {
	r := cause.New(began)
	now := began
	if got := testing.AllocsPerRun(1000, func() {
		now = now.Add(time.Second)
		renew(r, now)
		r.Try(now, "zk2:2181", cause.Shaking)
		r.Fail(now, "zk2:2181", cause.Refused)
	}); got != 0 {
		t.Errorf("got %v allocations, want 0", got)
	}
}

func BenchmarkRenewal(b *testing.B) {
	r := cause.New(began)
	now := began
	b.ReportAllocs()
	for b.Loop() {
		now = now.Add(time.Second)
		renew(r, now)
	}
}

func TestFailuresOfOneOutageThatAreAlikeAreOneEvent(t *testing.T) {
	r := cause.New(began)
	for i := range 1000 {
		r.Fail(at(time.Duration(i)*time.Second), fmt.Sprintf("zk%d:2181", i%3), cause.Refused)
	}
	r.Fail(at(1000*time.Second), "zk0:2181", cause.Timeout)
	got := r.Record(r.Mark(), &cause.Loss{}).Events
	if len(got) != 4 || got[0].Times != 255 || got[0].A != int64(999*time.Second) || got[3].Times != 1 {
		t.Errorf("got %+v, want three events for 1000 refusals, of 255 or more each, and one for a timeout", got)
	}
	for i, want := range []uint32{33300, 33300, 33300, 100} { // each has the second before it
		if got[i].N != want {
			t.Errorf("event %d: got attempts of %d units, want %d", i, got[i].N, want)
		}
	}
	r.Attach(at(1001*time.Second), at(1001*time.Second), "zk1:2181")
	r.Fail(at(1002*time.Second), "zk0:2181", cause.Refused)
	if got := r.Record(r.Mark(), &cause.Loss{}).Events; len(got) != 6 || got[5].Times != 1 || got[5].N != 100 {
		t.Errorf("got %+v, want an event of its own in another outage", got)
	}
	for i := range 100 { // each lasts for half a unit
		r.Fail(at(1002*time.Second+time.Duration(i+1)*5*time.Millisecond), "zk0:2181", cause.Refused)
	}
	if got := r.Record(r.Mark(), &cause.Loss{}).Events[5].N; got != 150 {
		t.Errorf("got attempts of %d units, want 150 of a second and a half", got)
	}
}

func TestServersBeyondFifteenShareAName(t *testing.T) {
	r := cause.New(began)
	for i := range 20 {
		r.Fail(at(0), fmt.Sprintf("zk%d:2181", i), cause.Refused)
	}
	rec := r.Record(r.Mark(), &cause.Loss{})
	if got := len(rec.Events); got != 16 {
		t.Errorf("got %d events, want 16", got)
	}
	if last := rec.Events[15]; rec.Servers[last.Server] != "another server" || last.Times != 5 {
		t.Errorf("got %d failures of %q, want 5 of another server", last.Times, rec.Servers[last.Server])
	}
}

func TestTimeInWhichAClockWasLateIsCountedOnce(t *testing.T) {
	r := cause.New(began)
	planned := at(time.Second)
	r.Run(planned.Add(5*time.Millisecond), planned, 0) // as any timer
	r.Run(planned.Add(4*time.Second), planned, time.Second)
	r.Run(planned.Add(4*time.Second), planned, time.Second)
	r.Run(planned.Add(5*time.Second), planned, time.Second)
	r.Run(planned.Add(6*time.Second), time.Time{}, time.Second)
	got := r.Record(r.Mark(), &cause.Loss{}).Events
	want := []cause.Event{
		{At: int64(5 * time.Second), A: int64(4 * time.Second), N: 100, Kind: cause.Late},
		{At: int64(6 * time.Second), A: int64(time.Second), Kind: cause.Late},
	}
	if len(got) != 2 || got[0] != want[0] || got[1] != want[1] {
		t.Errorf("got %+v, want %+v", got, want)
	}
}

func TestANewServerTakesTheNameThatNoEventHas(t *testing.T) {
	r := cause.New(began)
	for i := range 100 {
		r.Attach(at(time.Duration(i)*time.Hour), at(time.Duration(i)*time.Hour), fmt.Sprintf("zk%d:2181", i))
		for j := range 20 { // 13 servers are in the ring at most
			r.Renew(at(time.Duration(i)*time.Hour+time.Duration(j)*time.Second), time.Time{}, fmt.Sprintf("zk%d:2181", i))
		}
	}
	rec := r.Record(r.Mark(), &cause.Loss{})
	for _, e := range rec.Events {
		if got, want := rec.Servers[e.Server], fmt.Sprintf("zk%d:2181", time.Duration(e.At)/time.Hour); got != want {
			t.Fatalf("got %q for the event at %v, want %q", got, time.Duration(e.At), want)
		}
	}
}
