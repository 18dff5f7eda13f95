package observability

import (
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-zookeeper/zk"
	"go.opentelemetry.io/otel/sdk/metric/metricdata"

	"github.com/gocurator/curator/framework/zktest"
	"github.com/gocurator/curator/recipes/cache"
	"github.com/gocurator/curator/recipes/discovery"
)

// cacheValues are the metrics of the caches as both systems show them, in the order of wantCaches.
func (w world) cacheValues(t *testing.T) (prometheus, otel []string) {
	t.Helper()
	for _, name := range []string{"nodes", "bytes", "unreadable", "stale_seconds", "readings_total", "found_total"} {
		prometheus = append(prometheus, strings.Join(series(t, w.registry, "curator_cache_"+name), ", "))
	}
	var all metricdata.ResourceMetrics
	if err := w.reader.Collect(t.Context(), &all); err != nil {
		t.Fatal(err)
	}
	values := map[string]string{}
	for _, scope := range all.ScopeMetrics {
		for _, m := range scope.Metrics {
			switch data := m.Data.(type) {
			case metricdata.Gauge[int64]:
				values[m.Name] = of(data.DataPoints)
			case metricdata.Gauge[float64]:
				values[m.Name] = of(data.DataPoints)
			case metricdata.Sum[int64]:
				values[m.Name] = of(data.DataPoints)
			}
		}
	}
	for _, name := range []string{"node.count", "size", "node.unreadable", "stale.duration", "readings", "missed_events"} {
		otel = append(otel, values["cache.client."+name])
	}
	return prometheus, otel
}

func of[N int64 | float64](points []metricdata.DataPoint[N]) string {
	var texts []string
	for _, p := range points {
		name, _ := p.Attributes.Value("cache.name")
		texts = append(texts, fmt.Sprint(name.AsString(), " ", p.Value))
	}
	return strings.Join(texts, ", ")
}

// wantCaches compares nodes, bytes, unreadable, stale for how long, readings and found; "" is no value.
func (w world) wantCaches(t *testing.T, when string, want ...string) {
	t.Helper()
	synctest.Wait()
	prometheus, otel := w.cacheValues(t)
	for system, got := range map[string][]string{"Prometheus": prometheus, "OpenTelemetry": otel} {
		if fmt.Sprint(got) != fmt.Sprint(want) {
			t.Errorf("%s, %s: got %q, want %q", when, system, got, want)
		}
	}
}

func TestCachesAreShownWhileTheyFollowTheServers(t *testing.T) {
	inBubble(t, func(t *testing.T, w world) {
		for _, node := range []struct{ path, data string }{{"/workers", ""}, {"/workers/7", "idle"}} {
			if err := w.server.Create(node.path, []byte(node.data)); err != nil {
				t.Fatal(err)
			}
		}
		link := w.server.NewLink()
		workers := cache.NewCuratorCache(w.client(t, link.DialContext), "/workers", cache.WithReadAgain(time.Minute))
		w.WatchCache("workers", workers)
		w.wantCaches(t, "before the start", "", "", "", "", "", "")

		if err := workers.Start(t.Context()); err != nil {
			t.Fatal(err)
		}
		w.wantCaches(t, "started", "workers 2", "workers 22", "workers 0", "workers 0", "workers 1", "workers 0")

		link.Cut()
		synctest.Wait()
		time.Sleep(5 * time.Second)
		w.wantCaches(t, "cut off", "workers 2", "workers 22", "workers 0", "workers 5", "workers 1", "workers 0")
		link.Heal()
		time.Sleep(20 * time.Second)
		w.wantCaches(t, "healed", "workers 2", "workers 22", "workers 0", "workers 0", "workers 2", "workers 0")

		if err := w.server.SetACL("/workers/7", zktest.ACL{Perms: zk.PermAdmin, Scheme: "world", ID: "anyone"}); err != nil {
			t.Fatal(err)
		}
		time.Sleep(2 * time.Minute)
		w.wantCaches(t, "a node that may not be read", "workers 1", "workers 8", "workers 1", "workers 0", "workers 2", "workers 1")

		if err := workers.Close(); err != nil {
			t.Fatal(err)
		}
		w.wantCaches(t, "closed", "", "", "", "", "", "")
	})
}

func TestCacheThatHasEndedByItselfIsShownAsStale(t *testing.T) {
	inBubble(t, func(t *testing.T, w world) {
		if err := w.server.Create("/workers", nil); err != nil {
			t.Fatal(err)
		}
		workers := cache.NewCuratorCache(w.client(t, w.server.DialContext), "/workers", cache.WithMaxBytes(20))
		w.WatchCache("workers", workers)
		if err := workers.Start(t.Context()); err != nil {
			t.Fatal(err)
		}
		synctest.Wait()
		if err := w.server.Create("/workers/with a long name", nil); err != nil {
			t.Fatal(err)
		}
		synctest.Wait()
		time.Sleep(7 * time.Second)
		w.wantCaches(t, "too large", "workers 0", "workers 0", "workers 0", "workers 7", "workers 1", "workers 0")
	})
}

func TestTheCacheOfAServiceIsShownAsAnyOther(t *testing.T) {
	inBubble(t, func(t *testing.T, w world) {
		services := discovery.NewServiceDiscovery(w.client(t, w.server.DialContext), "/s")
		orders := services.NewServiceCache("orders")
		w.WatchCache("orders", orders)
		if err := orders.Start(t.Context()); err != nil {
			t.Fatal(err)
		}
		r, err := services.Register(t.Context(), discovery.ServiceInstance{Name: "orders", ID: "7", Registered: time.UnixMilli(1)})
		if err != nil {
			t.Fatal(err)
		}
		synctest.Wait()
		bytes := fmt.Sprint("orders ", orders.Stats().Bytes)
		w.wantCaches(t, "with an instance", "orders 2", bytes, "orders 0", "orders 0", "orders 1", "orders 0")
		if got, want := strings.Join(w.points(t, "cache.client.changes"), ", "), "orders 1"; got != want {
			t.Errorf("changes: got %q, want %q", got, want)
		}
		if err := r.Close(); err != nil {
			t.Fatal(err)
		}
		if err := orders.Close(); err != nil {
			t.Fatal(err)
		}
		w.wantCaches(t, "closed", "", "", "", "", "", "")
	})
}

// wantCacheChanges compares how many changes of the cache were heard, and how long ago the last was; "" is no value.
func (w world) wantCacheChanges(t *testing.T, when, changes, ago string) {
	t.Helper()
	synctest.Wait()
	for name, want := range map[string]string{"changes": changes, "unchanged.duration": ago} {
		if got := strings.Join(w.points(t, "cache.client."+name), ", "); got != want {
			t.Errorf("%s: got %s %q, want %q", when, name, got, want)
		}
	}
	if got := strings.Join(series(t, w.registry, "curator_cache_changes_total"), ", "); got != changes {
		t.Errorf("%s: got curator_cache_changes_total %q, want %q", when, got, changes)
	}
	var seconds float64
	if last, found := w.gauge(t, "curator_cache_last_change_timestamp_seconds", "workers"); found {
		seconds = float64(time.Now().UnixMilli())/1000 - last
	}
	if got := fmt.Sprint("workers ", seconds); ago != "" && got != ago {
		t.Errorf("%s: got a last change %q seconds ago, want %q", when, got, ago)
	}
}

func TestChangesOfACacheAreCountedFromItsFirstReadingOn(t *testing.T) {
	inBubble(t, func(t *testing.T, w world) {
		if err := w.server.Create("/workers", nil); err != nil {
			t.Fatal(err)
		}
		workers := cache.NewCuratorCache(w.client(t, w.server.DialContext), "/workers")
		w.WatchCache("workers", workers)
		w.wantCacheChanges(t, "before the start", "", "")
		if err := workers.Start(t.Context()); err != nil {
			t.Fatal(err)
		}
		synctest.Wait()
		time.Sleep(3 * time.Second)
		w.wantCacheChanges(t, "started", "workers 0", "workers 3")
		for _, change := range []func() error{
			func() error { return w.server.Create("/workers/7", nil) },
			func() error { return w.server.SetData("/workers/7", []byte("busy")) },
			func() error { return w.server.Delete("/workers/7") },
		} {
			if err := change(); err != nil {
				t.Fatal(err)
			}
			time.Sleep(time.Second)
		}
		w.wantCacheChanges(t, "three changes", "workers 3", "workers 1")

		w.WatchCache("workers", workers) // the counter of a further one restarts
		synctest.Wait()
		time.Sleep(5 * time.Second)
		w.wantCacheChanges(t, "watched again", "workers 0", "workers 5")
	})
}
