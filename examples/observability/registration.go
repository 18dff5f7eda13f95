package observability

import (
	"context"
	"errors"
	"maps"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/metric"

	"github.com/gocurator/curator/framework/session"
	"github.com/gocurator/curator/recipes/nodes"
)

// A Registration is a nodes.PersistentNode, or what has one, such as a registration of service discovery.
type Registration interface {
	There() bool
	Err() error
	LastLoss() session.Explanation
	OnChange(fn func(there bool)) (stop func())
}

// WatchRegistration shows whether the node of a registration is there, how often it went and why, and how often it came
// back, under a name that is one of a few. A further registration of that name takes its place. One that is closed, or
// not started, is not shown.
func (t *Telemetry) WatchRegistration(name string, r Registration) {
	w := &watchedRegistration{Registration: r, missing: time.Now(), causes: map[session.LossKind]int{}}
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
		w.changeLocked(there)
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
	returns int // times that the node was made again
	causes  map[session.LossKind]int
	pending int // losses that are not among causes yet
}

func (w *watchedRegistration) changeLocked(there bool) {
	if !there {
		w.missing = time.Now()
		w.losses++
		w.pending++
		return
	}
	w.missing = time.Time{}
	if w.returns < w.losses { // not the first creation
		w.returns++
	}
	w.explainLocked()
}

// settled is after what time a removal is taken for one: longer than sessions usually last without an answer.
const settled = time.Minute

// explainLocked counts losses by their cause. A removal may turn out to be the end of the session until the next answer
// of a server, which has come when the node is there again; and a counter cannot take back what it has counted.
func (w *watchedRegistration) explainLocked() {
	if w.pending == 0 {
		return
	}
	kind := w.LastLoss().Kind
	if kind == session.LossNodeRemoved && !w.missing.IsZero() && time.Since(w.missing) < settled {
		return
	}
	w.causes[kind] += w.pending
	w.pending = 0
}

// A registrationLook is what metrics show of a registration.
type registrationLook struct {
	there           int64 // 1 or 0
	missing         time.Duration
	losses, returns int
	causes          map[session.LossKind]int
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
		w.explainLocked()
		look := registrationLook{there: 1, losses: w.losses, returns: w.returns, causes: maps.Clone(w.causes)}
		if !w.missing.IsZero() {
			look.there, look.missing = 0, time.Since(w.missing)
		}
		looks[name] = look
	}
	return looks
}

// registrationMetrics reads the registrations when Prometheus asks.
type registrationMetrics struct{ *Telemetry }

var (
	registeredDesc = registrationDesc("curator_registration_registered", "1 if the node is there.")
	missingDesc    = registrationDesc("curator_registration_missing_seconds", "For how long the node has not been there; 0 if it is.")
	lossesDesc     = registrationDesc("curator_registration_losses_total", "Times that the node went: deleted, or with its session.")
	lostCausesDesc = registrationDesc("curator_registration_lost_causes_total", "The same losses, by what explains them.", "cause")
	returnsDesc    = registrationDesc("curator_registration_reregistrations_total", "Times that the node was made again after it had gone.")
)

func registrationDesc(name, help string, labels ...string) *prometheus.Desc {
	return prometheus.NewDesc(name, help, append([]string{"registration"}, labels...), nil)
}

// Describe is for prometheus.Collector.
func (registrationMetrics) Describe(descs chan<- *prometheus.Desc) {
	for _, d := range []*prometheus.Desc{registeredDesc, missingDesc, lossesDesc, lostCausesDesc, returnsDesc} {
		descs <- d
	}
}

// Collect is for prometheus.Collector.
func (r registrationMetrics) Collect(metrics chan<- prometheus.Metric) {
	for name, look := range r.lookAtRegistrations() {
		show := func(desc *prometheus.Desc, kind prometheus.ValueType, value float64, labels ...string) {
			metrics <- prometheus.MustNewConstMetric(desc, kind, value, append([]string{name}, labels...)...)
		}
		show(registeredDesc, prometheus.GaugeValue, float64(look.there))
		show(missingDesc, prometheus.GaugeValue, look.missing.Seconds())
		show(lossesDesc, prometheus.CounterValue, float64(look.losses))
		show(returnsDesc, prometheus.CounterValue, float64(look.returns))
		for _, kind := range session.LossKinds() {
			show(lostCausesDesc, prometheus.CounterValue, float64(look.causes[kind]), kind.String())
		}
	}
}

// observeRegistrations has OpenTelemetry read the same.
func (t *Telemetry) observeRegistrations(meter metric.Meter) error {
	missing, err := meter.Float64ObservableGauge("registration.client.missing.duration",
		metric.WithDescription("For how long the node has not been there; 0 if it is."), metric.WithUnit("s"))
	registered, failed := meter.Int64ObservableUpDownCounter("registration.client.registered",
		metric.WithDescription("1 if the node is there."), metric.WithUnit("{registration}"))
	err = errors.Join(err, failed)
	counter := func(name, help, unit string) metric.Int64ObservableCounter {
		c, failed := meter.Int64ObservableCounter(name, metric.WithDescription(help), metric.WithUnit(unit))
		err = errors.Join(err, failed)
		return c
	}
	losses := counter("registration.client.losses", "Times that the node went, by what explains it.", "{loss}")
	returns := counter("registration.client.reregistrations", "Times that the node was made again after it had gone.", "{registration}")
	if err != nil {
		return err
	}
	_, err = meter.RegisterCallback(func(_ context.Context, o metric.Observer) error {
		for name, look := range t.lookAtRegistrations() {
			of := attribute.String("registration.name", name)
			o.ObserveInt64(registered, look.there, metric.WithAttributes(of))
			o.ObserveFloat64(missing, look.missing.Seconds(), metric.WithAttributes(of))
			o.ObserveInt64(returns, int64(look.returns), metric.WithAttributes(of))
			for _, kind := range session.LossKinds() {
				o.ObserveInt64(losses, int64(look.causes[kind]), metric.WithAttributes(of, attribute.String("error.type", kind.String())))
			}
		}
		return nil
	}, registered, missing, losses, returns)
	return err
}
