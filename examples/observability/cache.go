package observability

import (
	"context"
	"errors"
	"maps"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/metric"

	"github.com/gocurator/curator/recipes/cache"
)

// A Cache is what can be watched: a CuratorCache, or the ServiceCache of service discovery, with the nodes that it has.
type Cache interface {
	Err() error
	Stats() cache.Stats
}

// WatchCache shows what a cache has, and for how long it may have been behind, under a name that is one of a few. A
// further cache of that name takes its place. A cache that is not started, or is closed, is not shown.
func (t *Telemetry) WatchCache(name string, c Cache) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.caches[name] = c
}

// A cacheLook is what metrics show of a cache.
type cacheLook struct {
	cache.Stats
	behind time.Duration // 0 if the cache is up to date
}

// lookAtCaches returns the caches that follow the servers, or have ended by themselves.
func (t *Telemetry) lookAtCaches() map[string]cacheLook {
	t.mu.Lock()
	caches := maps.Clone(t.caches)
	t.mu.Unlock()
	looks := map[string]cacheLook{}
	for name, c := range caches {
		if err := c.Err(); errors.Is(err, cache.ErrNotStarted) || errors.Is(err, cache.ErrClosed) {
			continue
		}
		look := cacheLook{Stats: c.Stats()}
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
)

func cacheDesc(name, help string) *prometheus.Desc {
	return prometheus.NewDesc(name, help, []string{"cache"}, nil)
}

// Describe is for prometheus.Collector.
func (cacheMetrics) Describe(descs chan<- *prometheus.Desc) {
	for _, d := range []*prometheus.Desc{cacheNodesDesc, cacheBytesDesc, unreadableDesc, cacheBehindDesc, readingsDesc, foundDesc} {
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
	}
}

// observeCaches has OpenTelemetry read the same.
func (t *Telemetry) observeCaches(meter metric.Meter) error {
	var errs []error
	gauge := func(name, help, unit string) metric.Int64ObservableGauge {
		g, err := meter.Int64ObservableGauge(name, metric.WithDescription(help), metric.WithUnit(unit))
		errs = append(errs, err)
		return g
	}
	counter := func(name, help, unit string) metric.Int64ObservableCounter {
		c, err := meter.Int64ObservableCounter(name, metric.WithDescription(help), metric.WithUnit(unit))
		errs = append(errs, err)
		return c
	}
	nodes := gauge("cache.client.nodes", "Nodes that the cache has.", "{node}")
	bytes := gauge("cache.client.size", "Bytes of their paths and data.", "By")
	unreadable := gauge("cache.client.unreadable", "Nodes and listings that the cache lacks, since it may not read them.", "{node}")
	readings := counter("cache.client.readings", "Readings of the whole tree.", "{reading}")
	found := counter("cache.client.found", "Differences that no event had reported, found by reading again.", "{difference}")
	behind, err := meter.Float64ObservableGauge("cache.client.stale.duration",
		metric.WithDescription("For how long the cache may have been behind; 0 if it is up to date."), metric.WithUnit("s"))
	if err := errors.Join(append(errs, err)...); err != nil {
		return err
	}
	_, err = meter.RegisterCallback(func(_ context.Context, o metric.Observer) error {
		for name, look := range t.lookAtCaches() {
			of := metric.WithAttributes(attribute.String("cache.name", name))
			o.ObserveInt64(nodes, int64(look.Nodes), of)
			o.ObserveInt64(bytes, look.Bytes, of)
			o.ObserveInt64(unreadable, int64(look.Unreadable), of)
			o.ObserveInt64(readings, int64(look.Readings), of)
			o.ObserveInt64(found, int64(look.Found), of)
			o.ObserveFloat64(behind, look.behind.Seconds(), of)
		}
		return nil
	}, nodes, bytes, unreadable, readings, found, behind)
	return err
}
