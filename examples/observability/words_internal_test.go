package observability

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/sdk/metric/metricdata"

	"github.com/gocurator/curator/framework/session"
	"github.com/gocurator/curator/recipes/leader"
	"github.com/gocurator/curator/recipes/locks"
)

// series are the values of a family of metrics, as name{label="value", …} value.
func series(t *testing.T, registry *prometheus.Registry, family string) (all []string) {
	t.Helper()
	families, err := registry.Gather()
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range families {
		for _, m := range f.GetMetric() {
			if f.GetName() != family {
				continue
			}
			var labels []string
			for _, l := range m.GetLabel() {
				labels = append(labels, l.GetValue())
			}
			all = append(all, fmt.Sprint(strings.Join(labels, " "), " ", m.GetCounter().GetValue()+m.GetGauge().GetValue()))
		}
	}
	return all
}

// points are the values of one of OpenTelemetry's counters or gauges, each behind its attributes' values, in the order
// of names.
func (w world) points(t *testing.T, name string) (all []string) {
	t.Helper()
	var collected metricdata.ResourceMetrics
	if err := w.reader.Collect(t.Context(), &collected); err != nil {
		t.Fatal(err)
	}
	for _, scope := range collected.ScopeMetrics {
		for _, m := range scope.Metrics {
			if m.Name != name {
				continue
			}
			switch data := m.Data.(type) {
			case metricdata.Sum[int64]:
				all = append(all, texts(data.DataPoints)...)
			case metricdata.Sum[float64]:
				all = append(all, texts(data.DataPoints)...)
			case metricdata.Gauge[int64]:
				all = append(all, texts(data.DataPoints)...)
			case metricdata.Gauge[float64]:
				all = append(all, texts(data.DataPoints)...)
			default:
				t.Fatalf("%s: got %T, want a counter or a gauge", name, data)
			}
		}
	}
	slices.Sort(all)
	return all
}

func texts[N int64 | float64](points []metricdata.DataPoint[N]) (all []string) {
	for _, point := range points {
		var values []string
		for _, a := range point.Attributes.ToSlice() {
			values = append(values, a.Value.AsString())
		}
		all = append(all, fmt.Sprint(strings.Join(values, " "), " ", point.Value))
	}
	return all
}

// zeros are the causes of losses, none of which has happened.
func zeros(names ...string) string {
	var all []string
	for _, kind := range session.LossKinds() {
		for _, name := range names {
			all = append(all, fmt.Sprintf("%v %s 0", kind, name))
		}
	}
	slices.Sort(all)
	return strings.Join(all, ", ")
}

// A counter that begins with 1 has no increase, so an alert would miss the first event.
func TestCountersAreThereWithZeroFromTheFirstUseOn(t *testing.T) {
	inBubble(t, func(t *testing.T, w world) {
		w.Lock("l")
		w.Election("e")
		for family, want := range map[string]string{
			"curator_lock_lost_total": "e closed 0, e lapsed 0, e other 0, e removed 0, e session 0, e suspended 0, " +
				"l closed 0, l lapsed 0, l other 0, l removed 0, l session 0, l suspended 0",
			"curator_lock_lost_causes_total": zeros("e", "l"),
			"curator_lock_acquires_total": "election e acquired 0, election e canceled 0, election e error 0, election e not_acquired 0, " +
				"election e reentered 0, election e timeout 0, lock l acquired 0, lock l canceled 0, lock l error 0, " +
				"lock l not_acquired 0, lock l reentered 0, lock l timeout 0",
			"curator_client_states_total":            "CONNECTED 0, LOST 0, RECONNECTED 0, SUSPENDED 0",
			"curator_lock_revocation_requests_total": "e 0, l 0",
			"curator_lock_waiters":                   "election e 0, lock l 0",
			"curator_locks_held":                     "election e 0, lock l 0",
		} {
			if got := strings.Join(series(t, w.registry, family), ", "); got != want {
				t.Errorf("%s: got %q, want %q", family, got, want)
			}
		}
		for name, want := range map[string]string{
			"lock.client.losses":  zeros("election e", "lock l"),
			"lock.client.held":    "election e 0, lock l 0",
			"lock.client.waiting": "election e 0, lock l 0",
		} {
			if got := strings.Join(w.points(t, name), ", "); got != want {
				t.Errorf("%s: got %q, want %q", name, got, want)
			}
		}
	})
}

// What a young process counts, alerts take for recent.
func TestStartIsWhenCountingBegan(t *testing.T) {
	inBubble(t, func(t *testing.T, w world) {
		began := time.Now().Unix()
		time.Sleep(time.Hour)
		w.Lock("l")
		got := strings.Join(series(t, w.registry, "curator_start_timestamp_seconds"), ", ")
		if want := fmt.Sprint(" ", float64(began)); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	})
}

// Every reason and every outcome there is was there with 0 before.
func TestReasonsAndOutcomesAreListed(t *testing.T) {
	listed := map[string]bool{}
	for _, r := range reasons {
		listed[r.text] = true
		if r.err != nil && Reason(fmt.Errorf("of a lease: %w", r.err)) != r.text {
			t.Errorf("%v: got reason %q, want %q", r.err, Reason(r.err), r.text)
		}
	}
	if got := Reason(context.Canceled); !listed[got] || got != "other" {
		t.Errorf("got reason %q of a strange loss, want other, and listed: %v", got, listed)
	}
	for _, end := range []locks.AcquireEnd{
		{}, {Reentered: true}, {Err: locks.ErrNotAcquired}, {Err: context.DeadlineExceeded}, {Err: context.Canceled}, {Err: locks.ErrReleased},
	} {
		got := Outcome(end)
		found := false
		for _, outcome := range outcomes {
			found = found || outcome == got
		}
		if !found {
			t.Errorf("%+v: got outcome %q, want one of %v", end, got, outcomes)
		}
	}
}

func TestKindThatLockIsGivenTakesThePlaceOfOurs(t *testing.T) {
	inBubble(t, func(t *testing.T, w world) {
		w.Lock("l", attribute.String("lock.kind", "semaphore"))
		if got, want := strings.Join(w.points(t, "lock.client.held"), ", "), "semaphore l 0"; got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	})
}

func TestElectionsAreToldFromLocks(t *testing.T) {
	inBubble(t, func(t *testing.T, w world) {
		var stop []func()
		for range 2 {
			selector := leader.NewLeaderSelector(w.client(t, w.server.DialContext), "/leaders", w.Election("e"))
			ctx, cancel := context.WithCancel(t.Context())
			stop = append(stop, cancel)
			go func() { _ = selector.RunOnce(ctx, func(ctx context.Context) error { <-ctx.Done(); return nil }) }()
			synctest.Wait()
		}
		for family, want := range map[string]string{"curator_lock_waiters": "election e 1", "curator_locks_held": "election e 1"} {
			if got := strings.Join(series(t, w.registry, family), ", "); got != want {
				t.Errorf("%s: got %q, want %q", family, got, want)
			}
		}
		for _, name := range []string{"lock.client.waiting", "lock.client.held"} {
			if got, want := strings.Join(w.points(t, name), ", "), "election e 1"; got != want {
				t.Errorf("%s: got %q, want %q", name, got, want)
			}
		}
		for _, s := range stop {
			s()
		}
	})
}
