package observability

import (
	"errors"

	"go.opentelemetry.io/otel/metric"
)

// seconds are the bounds of the histograms: from a millisecond, which is a round trip, to two minutes, in factors of
// four or so.
var seconds = []float64{0.001, 0.004, 0.016, 0.06, 0.25, 1, 4, 15, 60, 120}

// operationSeconds are the bounds that OpenTelemetry's convention for databases advises.
var operationSeconds = []float64{0.001, 0.005, 0.01, 0.05, 0.1, 0.5, 1, 5, 10}

// otelMetrics are those that count; CONVENTIONS.md has all names, and what they follow.
type otelMetrics struct {
	acquireDuration, holdDuration, handOverDuration metric.Float64Histogram
	operationDuration                               metric.Float64Histogram
	held, waiting                                   metric.Int64UpDownCounter
	lost, stateChanges                              metric.Int64Counter
}

func newOtelMetrics(meter metric.Meter) (*otelMetrics, error) {
	var errs []error
	histogram := func(name, help string, bounds ...float64) metric.Float64Histogram {
		h, err := meter.Float64Histogram(name, metric.WithDescription(help), metric.WithUnit("s"),
			metric.WithExplicitBucketBoundaries(bounds...))
		errs = append(errs, err)
		return h
	}
	upDown := func(name, help, unit string) metric.Int64UpDownCounter {
		c, err := meter.Int64UpDownCounter(name, metric.WithDescription(help), metric.WithUnit(unit))
		errs = append(errs, err)
		return c
	}
	counter := func(name, help, unit string) metric.Int64Counter {
		c, err := meter.Int64Counter(name, metric.WithDescription(help), metric.WithUnit(unit))
		errs = append(errs, err)
		return c
	}
	return &otelMetrics{
		acquireDuration:   histogram("lock.client.acquire.duration", "How long acquires took, by outcome.", seconds...),
		holdDuration:      histogram("lock.client.hold.duration", "How long holds lasted.", seconds...),
		handOverDuration:  histogram("lock.client.handover.duration", "From the news that the lock is free to the grant.", seconds...),
		operationDuration: histogram("db.client.operation.duration", "How long operations of clients took.", operationSeconds...),
		held:              upDown("lock.client.held", "Holds that last.", "{hold}"),
		waiting:           upDown("lock.client.waiting", "Contenders that wait.", "{contender}"),
		lost:              counter("lock.client.losses", "Holds that ended without their release, by cause.", "{loss}"),
		stateChanges:      counter("zookeeper.client.state.changes", "Changes of the connection's state.", "{change}"),
	}, errors.Join(errs...)
}
