package observability

import (
	"context"
	"errors"
	"maps"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/metric"

	"github.com/gocurator/curator/framework"
)

// beginStates makes the counter of each state with 0.
func (m *otelMetrics) beginStates() {
	for state := framework.StateConnected; state <= framework.StateLost; state++ {
		m.stateChanges.Add(context.Background(), 0, ofState(state))
	}
}

func ofState(s framework.State) metric.MeasurementOption {
	return metric.WithAttributes(attribute.String("zookeeper.client.state", s.String()))
}

// stateChanged counts a change of a connection's state.
func (t *Telemetry) stateChanged(now framework.StateChange) {
	t.prom.states.WithLabelValues(now.State.String()).Inc()
	t.otel.stateChanges.Add(context.Background(), 1, ofState(now.State))
}

// observeClients has OpenTelemetry read what Prometheus reads of the clients and their sessions.
func (t *Telemetry) observeClients(meter metric.Meter) error {
	connections, err := meter.Int64ObservableUpDownCounter("zookeeper.client.connection.count",
		metric.WithDescription("1 if the client is connected."), metric.WithUnit("{connection}"))
	gauge := func(name, help string) metric.Float64ObservableGauge {
		g, failed := meter.Float64ObservableGauge(name, metric.WithDescription(help), metric.WithUnit("s"))
		err = errors.Join(err, failed)
		return g
	}
	timeouts := gauge("zookeeper.client.session.timeout", "The session timeout that the servers have granted.")
	validity := gauge("zookeeper.client.lease.validity", "For how long leases are valid yet if no renewal is answered; while this process holds a lock.")
	if err != nil {
		return err
	}
	_, err = meter.RegisterCallback(func(_ context.Context, o metric.Observer) error {
		t.mu.Lock()
		clients, holds := maps.Clone(t.clients), len(t.holds) > 0
		t.mu.Unlock()
		for name, w := range clients {
			of := metric.WithAttributes(attribute.String("zookeeper.client.name", name))
			connected, timeout, left, valid := w.look()
			o.ObserveInt64(connections, int64(connected), of)
			if timeout > 0 {
				o.ObserveFloat64(timeouts, timeout.Seconds(), of)
			}
			if valid && holds {
				o.ObserveFloat64(validity, left.Seconds(), of)
			}
		}
		return nil
	}, connections, timeouts, validity)
	return err
}
