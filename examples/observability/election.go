package observability

import (
	"context"
	"maps"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/metric"
)

// A Leader is a participant of an election: a leader.LeaderSelector or a leader.LeaderLatch.
type Leader interface{ HasLeadership() bool }

// WatchLeader shows whether a participant leads, by its own clock, under a name that is one of a few: that of
// [Telemetry.Election], for the same label. A further participant of that name takes its place.
func (t *Telemetry) WatchLeader(name string, l Leader) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.leaders[name] = l
}

// An election is for how long this process has led in it.
type election struct {
	ended time.Duration // the time of terms that are over
	shown time.Duration // the longest that was collected: a counter must not fall
}

// lookAtElections returns who leads, and for how long this process has led.
func (t *Telemetry) lookAtElections() (leads map[string]int64, led map[string]time.Duration) {
	leads, led = map[string]int64{}, map[string]time.Duration{}
	t.mu.Lock()
	leaders := maps.Clone(t.leaders)
	for name, e := range t.elections {
		led[name] = e.ended
	}
	for _, h := range t.holds {
		if h.lock.kind == kindElection {
			led[h.lock.name] += time.Since(h.since)
		}
	}
	for name, e := range t.elections {
		e.shown = max(e.shown, led[name])
		led[name] = e.shown
	}
	t.mu.Unlock()
	for name, l := range leaders {
		leads[name] = 0
		if l.HasLeadership() {
			leads[name] = 1
		}
	}
	return leads, led
}

// electionMetrics reads the elections when Prometheus asks.
type electionMetrics struct{ *Telemetry }

var (
	leadingDesc = prometheus.NewDesc("curator_election_leading", "1 if this process leads, by its own clock.", []string{"lock"}, nil)
	ledDesc     = prometheus.NewDesc("curator_election_leading_seconds_total", "For how long this process has led.", []string{"lock"}, nil)
)

// Describe is for prometheus.Collector.
func (electionMetrics) Describe(descs chan<- *prometheus.Desc) {
	descs <- leadingDesc
	descs <- ledDesc
}

// Collect is for prometheus.Collector.
func (e electionMetrics) Collect(metrics chan<- prometheus.Metric) {
	leads, led := e.lookAtElections()
	for name, one := range leads {
		metrics <- prometheus.MustNewConstMetric(leadingDesc, prometheus.GaugeValue, float64(one), name)
	}
	for name, d := range led {
		metrics <- prometheus.MustNewConstMetric(ledDesc, prometheus.CounterValue, d.Seconds(), name)
	}
}

// observeElections has OpenTelemetry read the same.
func (t *Telemetry) observeElections(meter metric.Meter) error {
	leading, err := meter.Int64ObservableUpDownCounter("lock.client.leading",
		metric.WithDescription("1 if this process leads, by its own clock."), metric.WithUnit("{leader}"))
	if err != nil {
		return err
	}
	total, err := meter.Float64ObservableCounter("lock.client.leadership.time",
		metric.WithDescription("For how long this process has led."), metric.WithUnit("s"))
	if err != nil {
		return err
	}
	of := func(name string) metric.ObserveOption {
		return metric.WithAttributes(attribute.String("lock.name", name), attribute.String("lock.kind", kindElection))
	}
	_, err = meter.RegisterCallback(func(_ context.Context, o metric.Observer) error {
		leads, led := t.lookAtElections()
		for name, one := range leads {
			o.ObserveInt64(leading, one, of(name))
		}
		for name, d := range led {
			o.ObserveFloat64(total, d.Seconds(), of(name))
		}
		return nil
	}, leading, total)
	return err
}
