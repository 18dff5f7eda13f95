package observability

import (
	"context"
	"maps"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/gocurator/curator/framework"
)

// prometheusMetrics are those that count. Gauges are read when they are asked for.
type prometheusMetrics struct {
	acquires    *prometheus.CounterVec   // by lock, kind and outcome
	waits       *prometheus.HistogramVec // by lock
	handOvers   *prometheus.HistogramVec
	holds       *prometheus.HistogramVec
	losses      *prometheus.CounterVec // by lock and reason
	causes      *prometheus.CounterVec // by lock and cause
	revocations *prometheus.CounterVec
	retained    *prometheus.CounterVec // by lock and event
	states      *prometheus.CounterVec // by state
	orphans     prometheus.Counter
	refusals    prometheus.Counter
	started     prometheus.Gauge

	operations     *prometheus.CounterVec   // by operation and outcome
	operationTimes *prometheus.HistogramVec // by operation
	retries        *prometheus.CounterVec
	sent, received prometheus.Counter // bytes
}

func newPrometheusMetrics() *prometheusMetrics {
	counter := func(name, help string, labels ...string) *prometheus.CounterVec {
		return prometheus.NewCounterVec(prometheus.CounterOpts{Name: name, Help: help}, labels)
	}
	total := func(name, help string) prometheus.Counter {
		return prometheus.NewCounter(prometheus.CounterOpts{Name: name, Help: help})
	}
	histogram := func(name, help, label string) *prometheus.HistogramVec {
		return prometheus.NewHistogramVec(prometheus.HistogramOpts{
			Name: name, Help: help, Buckets: seconds, NativeHistogramBucketFactor: 1.1,
			NativeHistogramMaxBucketNumber: 100, NativeHistogramMinResetDuration: time.Hour,
		}, []string{label})
	}
	m := &prometheusMetrics{
		started: prometheus.NewGauge(prometheus.GaugeOpts{
			Name: "curator_start_timestamp_seconds", Help: "When the process began to count, with 0.",
		}),
		acquires:    counter("curator_lock_acquires_total", "Acquires that returned, by outcome.", "lock", "kind", "outcome"),
		waits:       histogram("curator_lock_wait_seconds", "How long successful acquires took.", "lock"),
		handOvers:   histogram("curator_lock_handover_seconds", "From the news that the lock is free to the grant.", "lock"),
		holds:       histogram("curator_lock_hold_seconds", "How long holds lasted.", "lock"),
		losses:      counter("curator_lock_lost_total", "Holds that ended without their release.", "lock", "reason"),
		causes:      counter("curator_lock_lost_causes_total", "Holds that ended without their release, by what explains it.", "lock", "cause"),
		revocations: counter("curator_lock_revocation_requests_total", "Holders that were asked to leave.", "lock"),
		retained: counter("curator_lock_retained_total",
			"What became of the nodes of retained locks: handed_over, kept, and after that idle or demanded.", "lock", "event"),
		states:   counter("curator_client_states_total", "Changes of the connection's state.", "state"),
		orphans:  total("curator_client_orphans_total", "Nodes whose creation was not answered, found and removed."),
		refusals: total("curator_client_removals_refused_total", "Nodes that must go and that the server does not let go."),

		operations:     counter("curator_client_operations_total", "Operations of clients, by outcome.", "op", "outcome"),
		operationTimes: histogram("curator_client_operation_seconds", "How long operations took, with waits for a connection.", "op"),
		retries:        counter("curator_client_retries_total", "Further tries of operations.", "op"),
		sent:           total("curator_client_sent_bytes_total", "Bytes of operations' requests."),
		received:       total("curator_client_received_bytes_total", "Bytes of operations' answers."),
	}
	for state := framework.StateConnected; state <= framework.StateLost; state++ {
		m.states.WithLabelValues(state.String())
	}
	m.started.SetToCurrentTime()
	return m
}

func (m *prometheusMetrics) register(registry prometheus.Registerer) {
	registry.MustRegister(m.acquires, m.waits, m.handOvers, m.holds, m.losses, m.causes, m.revocations, m.retained, m.states, m.orphans, m.refusals,
		m.operations, m.operationTimes, m.retries, m.sent, m.received, m.started)
}

// Gauges, in the order of their names.
var (
	connectedDesc = prometheus.NewDesc("curator_client_connected", "1 if the client is connected.", []string{"client"}, nil)
	timeoutDesc   = prometheus.NewDesc("curator_client_session_timeout_seconds",
		"The session timeout that the servers have granted.", []string{"client"}, nil)
	validityDesc = prometheus.NewDesc("curator_lease_validity_seconds",
		"For how long the client's leases are valid yet if no renewal is answered; while this process holds a lock.", []string{"client"}, nil)
	oldestDesc = prometheus.NewDesc("curator_lock_oldest_hold_start_timestamp_seconds",
		"When the oldest hold that lasts began.", []string{"lock"}, nil)
	waitersDesc = prometheus.NewDesc("curator_lock_waiters", "Contenders of this process that wait.", []string{"lock", "kind"}, nil)
	heldDesc    = prometheus.NewDesc("curator_locks_held", "Holds of this process that last.", []string{"lock", "kind"}, nil)
)

// gauges reads the present when it is asked for.
type gauges struct{ *Telemetry }

// Describe is for prometheus.Collector.
func (gauges) Describe(descs chan<- *prometheus.Desc) {
	for _, d := range []*prometheus.Desc{connectedDesc, timeoutDesc, validityDesc, oldestDesc, waitersDesc, heldDesc} {
		descs <- d
	}
}

// Collect is for prometheus.Collector.
func (g gauges) Collect(metrics chan<- prometheus.Metric) {
	held, oldest, waiters, clients := g.present()
	holds := len(oldest) > 0
	gauge := func(desc *prometheus.Desc, value float64, labels ...string) {
		metrics <- prometheus.MustNewConstMetric(desc, prometheus.GaugeValue, value, labels...)
	}
	for lock, n := range held {
		gauge(heldDesc, float64(n), lock.name, lock.kind)
	}
	for name, since := range oldest {
		gauge(oldestDesc, float64(since.UnixMilli())/1000, name)
	}
	for lock, n := range waiters {
		gauge(waitersDesc, float64(n), lock.name, lock.kind)
	}
	for name, w := range clients {
		connected, timeout, left, valid := w.look()
		gauge(connectedDesc, connected, name)
		if timeout > 0 {
			gauge(timeoutDesc, timeout.Seconds(), name)
		}
		if valid && holds { // a client that holds nothing renews nothing
			gauge(validityDesc, left.Seconds(), name)
		}
	}
}

// present copies what the gauges show. Locks that nothing waits for, or holds, are shown with 0.
func (t *Telemetry) present() (
	held map[named]int, oldest map[string]time.Time, waiters map[named]int, clients map[string]*watched,
) {
	held, oldest, waiters, clients = map[named]int{}, map[string]time.Time{}, map[named]int{}, map[string]*watched{}
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, h := range t.holds {
		held[h.lock]++
		if first, ok := oldest[h.lock.name]; !ok || h.since.Before(first) {
			oldest[h.lock.name] = h.since
		}
	}
	for lock, n := range t.waiters {
		waiters[lock] = n
		held[lock] += 0
	}
	maps.Copy(clients, t.clients)
	return held, oldest, waiters, clients
}

// Watch shows for how long the leases of a client are valid, under a name that is one of a few. A further client of
// that name takes its place.
func (t *Telemetry) Watch(name string, client *framework.Client) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.clients[name] = &watched{client: client}
}

// A watched client is looked at when metrics are collected.
type watched struct {
	client *framework.Client

	mu      sync.Mutex
	session framework.Session // the newest that was seen
}

// look says whether the client is connected, what session timeout it was granted, and for how long its leases are
// valid; valid is false if there is no session yet. It does not wait for a connection.
func (w *watched) look() (connected float64, timeout, left time.Duration, valid bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if now := w.client.State(); now == framework.StateConnected || now == framework.StateReconnected {
		// in case the connection breaks now
		ctx, cancel := context.WithTimeout(context.Background(), 100*time.Millisecond)
		defer cancel()
		if s, err := w.client.Session(ctx); err == nil {
			w.session = s
		}
	}
	if s := w.session; s != nil {
		if s.Connected() {
			connected = 1
		}
		timeout, valid = s.Timeout(), true
		if s.Err() == nil {
			left = max(0, time.Until(s.ValidUntil()))
		}
	}
	return connected, timeout, left, valid
}
