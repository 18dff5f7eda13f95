package observability

import (
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"go.opentelemetry.io/otel/sdk/metric/metricdata"

	"github.com/gocurator/curator/recipes/nodes"
)

// wantRegistrations compares for how long registrations have been missing, and how often they went; "" is no value.
func (w world) wantRegistrations(t *testing.T, when, missing, losses string) {
	t.Helper()
	synctest.Wait()
	for name, want := range map[string]string{"missing_seconds": missing, "losses_total": losses} {
		if got := strings.Join(series(t, w.registry, "curator_registration_"+name), ", "); got != want {
			t.Errorf("%s: got %s %q, want %q", when, name, got, want)
		}
	}
	var all metricdata.ResourceMetrics
	if err := w.reader.Collect(t.Context(), &all); err != nil {
		t.Fatal(err)
	}
	got := map[string]string{}
	for _, scope := range all.ScopeMetrics {
		for _, m := range scope.Metrics {
			switch data := m.Data.(type) {
			case metricdata.Gauge[float64]:
				if len(data.DataPoints) > 0 {
					name, _ := data.DataPoints[0].Attributes.Value("registration.name")
					got[m.Name] = fmt.Sprint(name.AsString(), " ", data.DataPoints[0].Value)
				}
			case metricdata.Sum[int64]:
				if len(data.DataPoints) > 0 {
					name, _ := data.DataPoints[0].Attributes.Value("registration.name")
					got[m.Name] = fmt.Sprint(name.AsString(), " ", data.DataPoints[0].Value)
				}
			}
		}
	}
	for name, want := range map[string]string{"missing.duration": missing, "losses": losses} {
		if got := got["registration.client."+name]; got != want {
			t.Errorf("%s: got %s %q in OpenTelemetry, want %q", when, name, got, want)
		}
	}
}

func TestRegistrationsAreShownWhileTheyLast(t *testing.T) {
	inBubble(t, func(t *testing.T, w world) {
		link := w.server.NewLink()
		client := w.client(t, link.DialContext)
		node := nodes.NewPersistentNode(client, "/orders", nil)
		w.WatchRegistration("orders", node)
		w.wantRegistrations(t, "before the start", "", "")
		if err := node.Start(t.Context()); err != nil {
			t.Fatal(err)
		}
		w.wantRegistrations(t, "started", "orders 0", "orders 0")

		s, err := client.Session(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		link.Cut()
		<-s.Done()
		time.Sleep(7 * time.Second)
		w.wantRegistrations(t, "its session has ended", "orders 7", "orders 1")
		link.Heal()
		time.Sleep(time.Minute)
		w.wantRegistrations(t, "registered again", "orders 0", "orders 1")

		if err := node.Close(); err != nil {
			t.Fatal(err)
		}
		w.wantRegistrations(t, "closed", "", "")
	})
}

func TestRegistrationIsTheLastOneOfItsName(t *testing.T) {
	inBubble(t, func(t *testing.T, w world) {
		client := w.client(t, w.server.DialContext)
		for _, path := range []string{"/one", "/two"} {
			node := nodes.NewPersistentNode(client, path, nil)
			if err := node.Start(t.Context()); err != nil {
				t.Fatal(err)
			}
			w.WatchRegistration("orders", node)
			w.wantRegistrations(t, path, "orders 0", "orders 0")
		}
		if err := w.server.Delete("/one"); err != nil {
			t.Fatal(err)
		}
		w.wantRegistrations(t, "the first was deleted", "orders 0", "orders 0")
	})
}
