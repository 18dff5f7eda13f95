package observability

import (
	"context"
	"errors"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/metric"

	"github.com/gocurator/curator/recipes/nodes"
)

// A Registration is a nodes.PersistentNode, or what has one, such as a registration of service discovery.
type Registration interface {
	There() bool
	Err() error
	OnChange(fn func(there bool)) (stop func())
}

// WatchRegistration shows for how long the node of a registration has not been there, and how often it went, under a
// name that is one of a few. A further registration of that name takes its place. One that is not started, or is
// closed, is not shown.
func (t *Telemetry) WatchRegistration(name string, r Registration) {
	w := &watchedRegistration{Registration: r, missing: time.Now()}
	t.mu.Lock()
	before := t.registrations[name]
	t.registrations[name] = w
	t.mu.Unlock()
	if before != nil {
		before.stop()
	}
	stop := r.OnChange(func(there bool) {
		t.mu.Lock()
		defer t.mu.Unlock()
		if w.missing = (time.Time{}); !there {
			w.missing = time.Now()
			w.losses++
		}
	})
	t.mu.Lock()
	defer t.mu.Unlock()
	w.stop = stop
	if r.There() {
		w.missing = time.Time{}
	}
}

// A watchedRegistration is what Telemetry has heard of a registration. The fields are guarded by its mutex.
type watchedRegistration struct {
	Registration

	stop    func()
	missing time.Time // since when; zero while the node is there
	losses  int
}

// A registrationLook is what metrics show of a registration.
type registrationLook struct {
	missing time.Duration
	losses  int
}

// lookAtRegistrations returns the registrations that last, or have ended by themselves.
func (t *Telemetry) lookAtRegistrations() map[string]registrationLook {
	t.mu.Lock()
	defer t.mu.Unlock()
	looks := map[string]registrationLook{}
	for name, w := range t.registrations {
		if err := w.Err(); errors.Is(err, nodes.ErrNotStarted) || errors.Is(err, nodes.ErrClosed) {
			continue
		}
		look := registrationLook{losses: w.losses}
		if !w.missing.IsZero() {
			look.missing = time.Since(w.missing)
		}
		looks[name] = look
	}
	return looks
}

// registrationMetrics reads the registrations when Prometheus asks.
type registrationMetrics struct{ *Telemetry }

var (
	missingDesc = prometheus.NewDesc("curator_registration_missing_seconds",
		"For how long the node has not been there; 0 if it is.", []string{"registration"}, nil)
	lossesDesc = prometheus.NewDesc("curator_registration_losses_total",
		"Times that the node went: deleted, or with its session.", []string{"registration"}, nil)
)

// Describe is for prometheus.Collector.
func (registrationMetrics) Describe(descs chan<- *prometheus.Desc) {
	descs <- missingDesc
	descs <- lossesDesc
}

// Collect is for prometheus.Collector.
func (r registrationMetrics) Collect(metrics chan<- prometheus.Metric) {
	for name, look := range r.lookAtRegistrations() {
		metrics <- prometheus.MustNewConstMetric(missingDesc, prometheus.GaugeValue, look.missing.Seconds(), name)
		metrics <- prometheus.MustNewConstMetric(lossesDesc, prometheus.CounterValue, float64(look.losses), name)
	}
}

// observeRegistrations has OpenTelemetry read the same.
func (t *Telemetry) observeRegistrations(meter metric.Meter) error {
	missing, err := meter.Float64ObservableGauge("registration.client.missing.duration",
		metric.WithDescription("For how long the node has not been there; 0 if it is."), metric.WithUnit("s"))
	if err != nil {
		return err
	}
	losses, err := meter.Int64ObservableCounter("registration.client.losses",
		metric.WithDescription("Times that the node went: deleted, or with its session."), metric.WithUnit("{loss}"))
	if err != nil {
		return err
	}
	_, err = meter.RegisterCallback(func(_ context.Context, o metric.Observer) error {
		for name, look := range t.lookAtRegistrations() {
			of := metric.WithAttributes(attribute.String("registration.name", name))
			o.ObserveFloat64(missing, look.missing.Seconds(), of)
			o.ObserveInt64(losses, int64(look.losses), of)
		}
		return nil
	}, missing, losses)
	return err
}
