package observability

import (
	"testing"
	"testing/synctest"
	"time"

	"go.opentelemetry.io/otel/sdk/metric/metricdata"

	"github.com/gocurator/curator/recipes/locks"
)

// gauge reads one value from the registry; found says whether there is one.
func (w world) gauge(t *testing.T, name, label string) (value float64, found bool) {
	t.Helper()
	families, err := w.registry.Gather()
	if err != nil {
		t.Fatal(err)
	}
	for _, family := range families {
		for _, m := range family.GetMetric() {
			for _, l := range m.GetLabel() {
				if family.GetName() == name && l.GetName() != "kind" && l.GetValue() == label {
					return m.GetGauge().GetValue(), true
				}
			}
		}
	}
	return 0, false
}

func (w world) wantGauge(t *testing.T, name, label string, want float64) {
	t.Helper()
	if got, found := w.gauge(t, name, label); !found || got != want {
		t.Errorf("%s{%s}: got %v, %v; want %v", name, label, got, found, want)
	}
}

func TestGaugesShowWhoHoldsAndWhoWaits(t *testing.T) {
	inBubble(t, func(t *testing.T, w world) {
		mutex := locks.NewInterProcessMutex(w.client(t, w.server.DialContext), "/lock", w.Lock("l"))
		began := time.Now()
		lease, err := mutex.Acquire(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		next := make(chan *locks.Lease, 1)
		go func() {
			l, _ := mutex.Acquire(t.Context())
			next <- l
		}()
		synctest.Wait()
		w.wantGauge(t, "curator_locks_held", "l", 1)
		w.wantGauge(t, "curator_lock_waiters", "l", 1)
		oldest, found := w.gauge(t, "curator_lock_oldest_hold_start_timestamp_seconds", "l")
		if want := float64(began.Unix()); !found || oldest < want || oldest > want+1 {
			t.Errorf("the oldest hold: got %v, %v; want the time of its acquire, %v", oldest, found, want)
		}
		if err := lease.Release(); err != nil {
			t.Fatal(err)
		}
		if second := <-next; second == nil {
			t.Error("got no lease for the second")
		} else if err := second.Release(); err != nil {
			t.Error(err)
		}
		synctest.Wait()
		w.wantGauge(t, "curator_locks_held", "l", 0)
		w.wantGauge(t, "curator_lock_waiters", "l", 0)
		if _, found := w.gauge(t, "curator_lock_oldest_hold_start_timestamp_seconds", "l"); found {
			t.Error("got the start of a hold, and nothing is held")
		}
	})
}

func TestWaiterThatGivesUpIsCountedNoMore(t *testing.T) {
	inBubble(t, func(t *testing.T, w world) {
		mutex := locks.NewInterProcessMutex(w.client(t, w.server.DialContext), "/lock", w.Lock("l"))
		lease, err := mutex.Acquire(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if _, err := locks.Within(mutex, time.Second).Acquire(t.Context()); err == nil {
			t.Fatal("acquired")
		}
		synctest.Wait()
		w.wantGauge(t, "curator_lock_waiters", "l", 0)
		w.wantGauge(t, "curator_locks_held", "l", 1)
		if err := lease.Release(); err != nil {
			t.Error(err)
		}
	})
}

func TestValidityRunsOutWhileTheClientIsCutOff(t *testing.T) {
	inBubble(t, func(t *testing.T, w world) {
		link := w.server.NewLink()
		client := w.client(t, link.DialContext)
		w.Watch("billing", client)
		if _, found := w.gauge(t, "curator_lease_validity_seconds", "billing"); found {
			t.Error("got a validity before there is a session")
		}
		lease, err := locks.NewInterProcessMutex(client, "/lock", w.Lock("l")).Acquire(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Minute + time.Second) // it is renewed every 2.5 s, also at the minute, but not now
		w.wantGauge(t, "curator_client_connected", "billing", 1)
		w.wantGauge(t, "curator_client_session_timeout_seconds", "billing", 10)
		healthy, found := w.gauge(t, "curator_lease_validity_seconds", "billing")
		if !found || healthy < 4 || healthy > 10 {
			t.Errorf("got a validity of %v s, %v; want half to all of the session timeout of 10 s", healthy, found)
		}
		link.Cut()
		time.Sleep(2 * time.Second)
		w.wantGauge(t, "curator_client_connected", "billing", 0)
		if got, found := w.gauge(t, "curator_lease_validity_seconds", "billing"); !found || got > healthy-1.9 || got <= 0 {
			t.Errorf("two seconds later: got %v s, %v; want about two less than %v", got, found, healthy)
		}
		<-lease.Done()
		link.Heal()
	})
}

func TestOpenTelemetryHasTheSame(t *testing.T) {
	inBubble(t, func(t *testing.T, w world) {
		mutex := locks.NewInterProcessMutex(w.client(t, w.server.DialContext), "/lock", w.Lock("l"))
		lease, err := mutex.Acquire(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		synctest.Wait()
		if got := w.sum(t, "lock.client.held"); got != 1 {
			t.Errorf("lock.client.held: got %d, want 1", got)
		}
		if err := lease.Release(); err != nil {
			t.Fatal(err)
		}
		synctest.Wait()
		if got := w.sum(t, "lock.client.held"); got != 0 {
			t.Errorf("lock.client.held: got %d, want 0 after the release", got)
		}
		for _, name := range []string{"lock.client.acquire.duration", "lock.client.hold.duration"} {
			if got := w.sum(t, name); got != 1 {
				t.Errorf("%s: got %d values, want 1", name, got)
			}
		}
	})
}

// sum is the sum of a counter, or the number of values of a histogram.
func (w world) sum(t *testing.T, name string) (total int64) {
	t.Helper()
	var all metricdata.ResourceMetrics
	if err := w.reader.Collect(t.Context(), &all); err != nil {
		t.Fatal(err)
	}
	for _, scope := range all.ScopeMetrics {
		for _, m := range scope.Metrics {
			if m.Name != name {
				continue
			}
			switch data := m.Data.(type) {
			case metricdata.Sum[int64]:
				for _, point := range data.DataPoints {
					total += point.Value
				}
			case metricdata.Histogram[float64]:
				for _, point := range data.DataPoints {
					total += int64(point.Count)
				}
			}
		}
	}
	return total
}
