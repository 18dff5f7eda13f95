package observability

import (
	"context"
	"errors"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/metric"

	"github.com/gocurator/curator/recipes/cache"
	"github.com/gocurator/curator/recipes/discovery"
)

// A Cache is what can be watched: a CuratorCache, or the ServiceCache of service discovery, with the nodes that it has.
type Cache interface {
	Err() error
	Stats() cache.Stats
}

// WatchCache shows what a cache has, and for how long it may have been behind, under a name that is one of a few. A
// further cache of that name takes its place. A cache that is not started, or is closed, is not shown.
func (t *Telemetry) WatchCache(name string, c Cache) {
	w := &watchedCache{Cache: c, stop: func() {}}
	heard := func(kind cache.Kind) {
		t.mu.Lock()
		defer t.mu.Unlock()
		w.heardLocked(kind)
	}
	switch c := c.(type) {
	case interface {
		OnEvent(fn func(cache.Event)) (stop func())
	}:
		w.stop = c.OnEvent(func(e cache.Event) { heard(e.Kind) })
	case interface {
		OnEvent(fn func(discovery.Event)) (stop func())
	}:
		w.stop = c.OnEvent(func(e discovery.Event) { heard(e.Kind) })
	}
	t.mu.Lock()
	before := t.caches[name]
	t.caches[name] = w
	t.mu.Unlock()
	if before != nil {
		before.stop()
	}
}

// A watchedCache is what Telemetry has heard of a cache. The fields are guarded by its mutex.
type watchedCache struct {
	Cache

	stop    func()
	changes int
	changed time.Time // when the last of them came, or the first reading ended; zero before
}

// heardLocked counts a change. What comes before the first Synced is what the cache has, and no change.
func (w *watchedCache) heardLocked(kind cache.Kind) {
	first := w.changed.IsZero()
	switch kind {
	case cache.Synced:
		if first {
			w.changed = time.Now()
		}
	case cache.Created, cache.Changed, cache.Deleted:
		if !first {
			w.changes++
			w.changed = time.Now()
		}
	}
}

// A cacheLook is what metrics show of a cache.
type cacheLook struct {
	cache.Stats
	behind  time.Duration // 0 if the cache is up to date
	changes int
	changed time.Time
}

// lookAtCaches returns the caches that follow the servers, or have ended by themselves.
func (t *Telemetry) lookAtCaches() map[string]cacheLook {
	t.mu.Lock()
	defer t.mu.Unlock()
	looks := map[string]cacheLook{}
	for name, w := range t.caches {
		if err := w.Err(); errors.Is(err, cache.ErrNotStarted) || errors.Is(err, cache.ErrClosed) {
			continue
		}
		look := cacheLook{Stats: w.Stats(), changes: w.changes, changed: w.changed}
		if since := look.Stale; !since.IsZero() {
			look.behind = time.Since(since)
		}
		looks[name] = look
	}
	return looks
}

// cacheMetrics reads the caches when Prometheus asks.
type cacheMetrics struct{ *Telemetry }

var (
	cacheNodesDesc  = cacheDesc("curator_cache_nodes", "Nodes that the cache has.")
	cacheBytesDesc  = cacheDesc("curator_cache_bytes", "Bytes of their paths and data.")
	unreadableDesc  = cacheDesc("curator_cache_unreadable", "Nodes and listings that the cache lacks, since it may not read them.")
	cacheBehindDesc = cacheDesc("curator_cache_stale_seconds", "For how long the cache may have been behind; 0 if it is up to date.")
	readingsDesc    = cacheDesc("curator_cache_readings_total", "Readings of the whole tree: at the start, and after lost connections.")
	foundDesc       = cacheDesc("curator_cache_found_total", "Differences that no event had reported, found by reading again.")
	changesDesc     = cacheDesc("curator_cache_changes_total", "Changes that the cache has reported since its first reading.")
	changedDesc     = cacheDesc("curator_cache_last_change_timestamp_seconds", "When the last change came, or the first reading ended.")
)

func cacheDesc(name, help string) *prometheus.Desc {
	return prometheus.NewDesc(name, help, []string{"cache"}, nil)
}

// Describe is for prometheus.Collector.
func (cacheMetrics) Describe(descs chan<- *prometheus.Desc) {
	for _, d := range []*prometheus.Desc{cacheNodesDesc, cacheBytesDesc, unreadableDesc, cacheBehindDesc, readingsDesc, foundDesc, changesDesc, changedDesc} {
		descs <- d
	}
}

// Collect is for prometheus.Collector.
func (c cacheMetrics) Collect(metrics chan<- prometheus.Metric) {
	for name, look := range c.lookAtCaches() {
		show := func(desc *prometheus.Desc, kind prometheus.ValueType, value float64) {
			metrics <- prometheus.MustNewConstMetric(desc, kind, value, name)
		}
		show(cacheNodesDesc, prometheus.GaugeValue, float64(look.Nodes))
		show(cacheBytesDesc, prometheus.GaugeValue, float64(look.Bytes))
		show(unreadableDesc, prometheus.GaugeValue, float64(look.Unreadable))
		show(cacheBehindDesc, prometheus.GaugeValue, look.behind.Seconds())
		show(readingsDesc, prometheus.CounterValue, float64(look.Readings))
		show(foundDesc, prometheus.CounterValue, float64(look.Found))
		show(changesDesc, prometheus.CounterValue, float64(look.changes))
		if !look.changed.IsZero() {
			show(changedDesc, prometheus.GaugeValue, float64(look.changed.UnixMilli())/1000)
		}
	}
}

// observeCaches has OpenTelemetry read the same.
func (t *Telemetry) observeCaches(meter metric.Meter) error {
	var errs []error
	upDown := func(name, help, unit string) metric.Int64ObservableUpDownCounter {
		g, err := meter.Int64ObservableUpDownCounter(name, metric.WithDescription(help), metric.WithUnit(unit))
		errs = append(errs, err)
		return g
	}
	counter := func(name, help, unit string) metric.Int64ObservableCounter {
		c, err := meter.Int64ObservableCounter(name, metric.WithDescription(help), metric.WithUnit(unit))
		errs = append(errs, err)
		return c
	}
	nodes := upDown("cache.client.node.count", "Nodes that the cache has.", "{node}")
	bytes := upDown("cache.client.size", "Bytes of their paths and data.", "By")
	unreadable := upDown("cache.client.node.unreadable", "Nodes and listings that the cache lacks, since it may not read them.", "{node}")
	readings := counter("cache.client.readings", "Readings of the whole tree.", "{reading}")
	found := counter("cache.client.missed_events", "Differences that no event had reported, found by reading again.", "{event}")
	changes := counter("cache.client.changes", "Changes that the cache has reported since its first reading.", "{change}")
	duration := func(name, help string) metric.Float64ObservableGauge {
		g, err := meter.Float64ObservableGauge(name, metric.WithDescription(help), metric.WithUnit("s"))
		errs = append(errs, err)
		return g
	}
	behind := duration("cache.client.stale.duration", "For how long the cache may have been behind; 0 if it is up to date.")
	unchanged := duration("cache.client.unchanged.duration", "How long ago the last change came, or the first reading ended.")
	if err := errors.Join(errs...); err != nil {
		return err
	}
	_, err := meter.RegisterCallback(func(_ context.Context, o metric.Observer) error {
		for name, look := range t.lookAtCaches() {
			of := metric.WithAttributes(attribute.String("cache.name", name))
			o.ObserveInt64(nodes, int64(look.Nodes), of)
			o.ObserveInt64(bytes, look.Bytes, of)
			o.ObserveInt64(unreadable, int64(look.Unreadable), of)
			o.ObserveInt64(readings, int64(look.Readings), of)
			o.ObserveInt64(found, int64(look.Found), of)
			o.ObserveInt64(changes, int64(look.changes), of)
			o.ObserveFloat64(behind, look.behind.Seconds(), of)
			if !look.changed.IsZero() {
				o.ObserveFloat64(unchanged, time.Since(look.changed).Seconds(), of)
			}
		}
		return nil
	}, nodes, bytes, unreadable, readings, found, changes, behind, unchanged)
	return err
}
