// Package observability ties the hooks of locks, clients and caches to OpenTelemetry, Prometheus and slog. It is a
// module of its own, so that programs that use the locks depend on none of the three.
//
//	telemetry, err := observability.New(observability.Config{
//		Tracer: otel.Tracer("billing"), Meter: otel.Meter("billing"),
//		Registerer: prometheus.DefaultRegisterer, Logger: slog.Default(),
//	})
//	client, err := framework.NewClient(servers, telemetry.ClientOptions()...)
//	telemetry.Watch("billing", client)
//	mutex := locks.NewInterProcessMutex(client, "/locks/nightly", telemetry.Lock("nightly"))
//	selector := leader.NewLeaderSelector(client, "/leaders/billing", telemetry.Election("billing"))
//	telemetry.WatchLeader("billing", selector)
//	telemetry.WatchCache("workers", workers) // a CuratorCache, or a ServiceCache
//	telemetry.WatchRegistration("orders", node) // a PersistentNode, or a registration of service discovery
//
// README.md lists what there is to see; the dashboard and the alert rules beside it use the same names.
package observability

import (
	"errors"
	"log/slog"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/metric"
	metricnoop "go.opentelemetry.io/otel/metric/noop"
	"go.opentelemetry.io/otel/trace"
	tracenoop "go.opentelemetry.io/otel/trace/noop"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/recipes/leader"
	"github.com/gocurator/curator/recipes/locks"
)

// A Config says where to. What is nil is left out.
type Config struct {
	Tracer     trace.Tracer
	Meter      metric.Meter
	Registerer prometheus.Registerer
	Logger     *slog.Logger
}

// Telemetry turns what locks and clients report into spans, metrics and log lines. Make one for the process. Its
// methods are safe for concurrent use.
type Telemetry struct {
	tracer  trace.Tracer
	logger  *slog.Logger
	prom    *prometheusMetrics
	otel    *otelMetrics
	mu      sync.Mutex
	holds   map[holdKey]hold
	waiters map[named]int
	clients map[string]*watched
	caches  map[string]*watchedCache
	leaders map[string]Leader

	elections     map[string]*election
	registrations map[string]*watchedRegistration
}

// named is what distinguishes locks in metrics.
type named struct{ name, kind string }

// Kinds. A standby of an election waits for as long as it lives, and that is no fault.
const (
	kindLock     = "lock"
	kindElection = "election"
)

// Holds of a retained lock that share a node differ by their count.
type holdKey struct {
	path, node string
	count      int64
}

// A hold is what is remembered of one from its acquire to its end.
type hold struct {
	lock    named
	since   time.Time
	acquire trace.SpanContext
}

// New registers the metrics. It panics if the registerer has them already, and fails if the meter refuses an
// instrument.
func New(cfg Config) (*Telemetry, error) {
	if cfg.Tracer == nil {
		cfg.Tracer = tracenoop.NewTracerProvider().Tracer("")
	}
	if cfg.Meter == nil {
		cfg.Meter = metricnoop.NewMeterProvider().Meter("")
	}
	if cfg.Logger == nil {
		cfg.Logger = slog.New(slog.DiscardHandler)
	}
	instruments, err := newOtelMetrics(cfg.Meter)
	if err != nil {
		return nil, err
	}
	t := &Telemetry{
		tracer: cfg.Tracer, logger: cfg.Logger, prom: newPrometheusMetrics(), otel: instruments,
		holds: map[holdKey]hold{}, waiters: map[named]int{}, clients: map[string]*watched{},
		caches: map[string]*watchedCache{}, leaders: map[string]Leader{},
		elections: map[string]*election{}, registrations: map[string]*watchedRegistration{},
	}
	if err := errors.Join(t.observeElections(cfg.Meter), t.observeCaches(cfg.Meter), t.observeRegistrations(cfg.Meter),
		t.observeClients(cfg.Meter)); err != nil {
		return nil, err
	}
	t.otel.beginStates()
	if cfg.Registerer != nil {
		t.prom.register(cfg.Registerer)
		cfg.Registerer.MustRegister(gauges{t}, electionMetrics{t}, cacheMetrics{t}, registrationMetrics{t})
	}
	return t, nil
}

// ClientOptions have a client report.
func (t *Telemetry) ClientOptions() []framework.Option {
	return []framework.Option{
		framework.WithLogger(t.logger),
		framework.WithStateListener(t.stateChanged),
		framework.WithTrace(framework.Trace{
			OrphanFound:   func(string) { t.prom.orphans.Inc() },
			RemovalFailed: func(string, error) { t.prom.refusals.Inc() },
			Operation:     t.operation,
		}),
	}
}

// An acquiring is one acquire, from its start to its end. It travels in the acquire's context.
type acquiring struct {
	span  trace.Span
	waits bool // it has begun to wait
}

type acquiringKey struct{}

// Lock has a lock report under a name that is one of a few: a path with an order's number in it would make a metric for
// each order. attributes are added to spans and to OpenTelemetry's metrics: lock.mode, for instance. A lock.kind
// among them replaces the one that separates elections from locks.
//
// All counters of the name are there from now on, with 0: the increase of one that begins with 1 is none.
func (t *Telemetry) Lock(name string, attributes ...attribute.KeyValue) locks.Option {
	return locks.WithTrace(t.trace(named{name, kindLock}, attributes))
}

// Election is Lock for a LeaderSelector or a LeaderLatch: its standbys count as such, and not as waiters that are
// stuck.
func (t *Telemetry) Election(name string, attributes ...attribute.KeyValue) leader.Option {
	return leader.WithTrace(t.trace(named{name, kindElection}, attributes))
}
