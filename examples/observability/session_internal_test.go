package observability

import (
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/gocurator/curator/recipes/locks"
)

func TestOpenTelemetryShowsSessions(t *testing.T) {
	inBubble(t, func(t *testing.T, w world) {
		want := func(when string, values map[string]string) {
			t.Helper()
			synctest.Wait()
			for name, want := range values {
				if got := strings.Join(w.points(t, "zookeeper.client."+name), ", "); got != want {
					t.Errorf("%s: got zookeeper.client.%s %q, want %q", when, name, got, want)
				}
			}
		}
		link := w.server.NewLink()
		client := w.client(t, link.DialContext)
		w.Watch("billing", client)
		if err := client.BlockUntilConnected(t.Context()); err != nil {
			t.Fatal(err)
		}
		want("without a lock", map[string]string{
			"connection.count": "billing 1", "session.timeout": "billing 10", "lease.validity": "", "state.changes": "CONNECTED 1, LOST 0, RECONNECTED 0, SUSPENDED 0",
		})
		lease, err := locks.NewInterProcessMutex(client, "/lock", w.Lock("l")).Acquire(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		link.Cut()
		synctest.Wait()
		left := time.Until(lease.ValidUntil())
		want("cut off with a lock", map[string]string{"connection.count": "billing 0", "state.changes": "CONNECTED 1, LOST 0, RECONNECTED 0, SUSPENDED 1"})
		if got, ok := w.gauge(t, "curator_lease_validity_seconds", "billing"); !ok || got != left.Seconds() {
			t.Errorf("got a validity of %v, %v; want %v", got, ok, left)
		}
		if got := w.points(t, "zookeeper.client.lease.validity"); len(got) != 1 || !strings.HasPrefix(got[0], "billing ") {
			t.Errorf("got validities %q, want one of billing", got)
		}
		<-lease.Done()
		link.Heal()
	})
}
