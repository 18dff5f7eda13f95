package cause_test

import (
	"fmt"
	"strings"
	"testing"
	"time"
	"unsafe"

	"github.com/gocurator/curator/framework/internal/cause"
	"github.com/gocurator/curator/framework/internal/cgroup"
	"github.com/gocurator/curator/framework/session"
)

// lossAt is a loss of a lease that was last proven a timeout before.
func lossAt(d time.Duration) *cause.Loss {
	return &cause.Loss{At: int64(d), From: int64(d - timeout), Until: int64(d), Timeout: int64(timeout), Valid: true}
}

func TestARecordHasTheEventsThatCountAndTheStateBeforeThem(t *testing.T) {
	for name, test := range map[string]struct {
		tell   func(r *cause.Ring)
		first  cause.Kind
		at     time.Duration
		events int
	}{
		"health": {func(*cause.Ring) {}, cause.Answered, 984*time.Second + time.Millisecond, 11},
		"an outage that began long before": {func(r *cause.Ring) {
			r.Detach(at(500*time.Second), time.Time{}, "zk1:2181", cause.Reset)
			for i := range 20 {
				r.Fail(at(time.Duration(500+i)*time.Second), "zk1:2181", cause.Refused)
			}
			r.Run(at(990*time.Second), at(700*time.Second), 0)
		}, cause.Detached, 500 * time.Second, 3},
		"an outage whose attempts began long before": {func(r *cause.Ring) {
			r.Detach(at(500*time.Second), time.Time{}, "zk1:2181", cause.Reset)
			r.Fail(at(500*time.Second), "zk1:2181", cause.Refused)
			r.Fail(at(501*time.Second), "zk2:2181", cause.Refused)
			r.Fail(at(990*time.Second), "zk1:2181", cause.Refused)
		}, cause.Detached, 500 * time.Second, 3},
	} {
		r := cause.New(began)
		healthy := 999 * time.Second
		if name != "health" {
			healthy = 499 * time.Second
		}
		for d := 3 * time.Second; d <= healthy; d += 3 * time.Second {
			r.Renew(at(d), at(d), "zk1:2181")
			r.Answer(at(d), at(d+time.Millisecond), "zk1:2181")
		}
		test.tell(r)
		got := r.Record(r.Mark(), lossAt(1000*time.Second))
		if len(got.Events) != test.events || got.Cut || got.Events[0].Kind != test.first || got.Events[0].At != int64(test.at) {
			t.Errorf("%s: got %d events, cut: %t: %+v; want %d from kind %d at %v on", name, len(got.Events), got.Cut, got.Events,
				test.events, test.first, test.at)
		}
	}
}

// flap records a connection that comes and ends, over and over.
func flap(r *cause.Ring, from, to, every time.Duration) {
	for i, d := 0, from; d < to; i, d = i+1, d+every {
		server := fmt.Sprintf("zookeeper-%d.example.com:2181", i%3)
		r.Attach(at(d), at(d+time.Millisecond), server)
		r.Renew(at(d+time.Millisecond), at(d+time.Millisecond), server)
		r.Detach(at(d+every/2), time.Time{}, server, cause.Closed)
	}
}

func TestARecordKeepsTheNewestEventsBeforeAMark(t *testing.T) {
	r := cause.New(began)
	for i := range 300 {
		r.Renew(at(time.Duration(i)*time.Second), time.Time{}, "zk1:2181")
	}
	mark := r.Mark()
	for i := range 6 {
		r.Answer(at(300*time.Second), at(time.Duration(300+i)*time.Second), "zk1:2181")
	}
	all := &cause.Loss{At: int64(300 * time.Second)}
	got := r.Record(mark, all)
	if len(got.Events) != 112 || !got.Cut {
		t.Fatalf("got %d events, cut: %t, want 112, since there are more that count", len(got.Events), got.Cut)
	}
	for i, e := range got.Events {
		if want := int64(time.Duration(188+i) * time.Second); e.Kind != cause.Renewed || e.At != want {
			t.Fatalf("event %d: got kind %d at %v, want a renewal at %v", i, e.Kind, time.Duration(e.At), time.Duration(want))
		}
	}
	for range 100 {
		r.Renew(at(400*time.Second), time.Time{}, "zk1:2181")
	}
	if got := r.Record(mark, lossAt(190*time.Second)); len(got.Events) != 112 || !got.Cut {
		t.Errorf("got %d events, cut: %t, want the newest 112, cut", len(got.Events), got.Cut)
	}
	if got := r.Record(mark, lossAt(250*time.Second)); got.Events[0].At != int64(234*time.Second) || got.Cut {
		t.Errorf("got events from %v on, cut: %t, want one before 235s, and not cut", time.Duration(got.Events[0].At), got.Cut)
	}
	for range 300 {
		r.End(at(400*time.Second), cause.Lapsed)
	}
	late := r.Mark()
	for range 200 {
		r.End(at(400*time.Second), cause.Lapsed)
	}
	if got := r.Record(late, lossAt(500*time.Second)); len(got.Events) != 56 || !got.Cut {
		t.Errorf("got %d events, cut: %t, want 56, cut: none says how the connection stood", len(got.Events), got.Cut)
	}
	if got := r.Record(mark, all); len(got.Events) != 0 || !got.Cut {
		t.Errorf("got %d events, cut: %t, want none, cut: all were overwritten", len(got.Events), got.Cut)
	}
}

// A record that was cut says nothing of the time before: that time is no culprit's.
func TestTheTimeBeforeARecordThatWasCutIsUnknown(t *testing.T) {
	for _, how := range []cause.How{cause.Lapsed, cause.Expired} {
		r := cause.New(began)
		r.Attach(at(0), at(0), "zk1:2181")
		flap(r, 10*time.Second, 19*time.Second, 100*time.Millisecond)
		r.Fail(at(19*time.Second), "zk1:2181", cause.Refused)
		l := lossAt(20 * time.Second)
		l.How, l.Valid = how, how == cause.Lapsed
		rec := r.Record(r.Mark(), l)
		got := cause.Judge(rec, *l)
		if want := "of the first 7.3s nothing is recorded any more"; !rec.Cut || got.Kind != session.LossUnknown || !strings.Contains(got.Sentence, want) {
			t.Errorf("cut: %t, got %v: %s, want unknown with %q", rec.Cut, got.Kind, got, want)
		}
		rec.Events = nil
		if got := cause.Judge(rec, *l); got.Kind != session.LossUnknown || !strings.Contains(got.Sentence, "of the first 12s nothing") {
			t.Errorf("without any event got %v: %s, want unknown", got.Kind, got)
		}
	}
}

func TestAMomentBeforeARecordThatWasCutMakesNothingUncertain(t *testing.T) {
	r := cause.New(began)
	flap(r, 0, 18*time.Second, 250*time.Millisecond)
	r.Fail(at(19*time.Second), "zk1:2181", cause.Refused)
	l := lossAt(20 * time.Second)
	rec := r.Record(r.Mark(), l)
	got := cause.Judge(rec, *l)
	if want := "there was no connection for 6.7s"; !rec.Cut || rec.Events[0].At <= l.From || !strings.Contains(got.Sentence, want) {
		t.Errorf("cut: %t, at %v, got %v: %s, want one that was cut later than %v, with %q", rec.Cut, time.Duration(rec.Events[0].At),
			got.Kind, got, time.Duration(l.From), want)
	}
}

// What the losses of a term and its session keep comes to what a client has, before they are explained and afterwards.
func TestAClientAndItsLossesHaveAtMost16KB(t *testing.T) {
	r := cause.New(began)
	flap(r, 0, 30*time.Second, 100*time.Millisecond)
	client := int(unsafe.Sizeof(*r) + unsafe.Sizeof(cgroup.Meter{}))
	records, explanations := 0, 0
	for _, how := range []cause.How{cause.Lapsed, cause.TimedOut} {
		l := lossAt(30 * time.Second)
		l.How = how
		rec := r.Record(r.Mark(), l)
		records += int(unsafe.Sizeof(*l)+unsafe.Sizeof(rec)) + cap(rec.Events)*int(unsafe.Sizeof(cause.Event{}))
		why := cause.Judge(rec, *l)
		explanations += int(unsafe.Sizeof(*l)+unsafe.Sizeof(why)) + len(why.Sentence) + cap(why.Evidence)*int(unsafe.Sizeof(""))
		for _, line := range why.Evidence {
			explanations += len(line)
		}
	}
	t.Logf("the client %d bytes, two records %d, two explanations %d", client, records, explanations)
	if got := client + max(records, explanations); got > 16<<10 {
		t.Errorf("got %d bytes, want at most 16 KB", got)
	}
	if got := unsafe.Sizeof(cause.Event{}); got != 24 {
		t.Errorf("got an event of %d bytes, want 24", got)
	}
}
