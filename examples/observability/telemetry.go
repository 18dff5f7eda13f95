// Package observability ties the hooks of locks and clients to OpenTelemetry, Prometheus and slog. It is a module of
// its own, so that programs that use the locks depend on none of the three.
//
//	telemetry, err := observability.New(observability.Config{
//		Tracer: otel.Tracer("billing"), Meter: otel.Meter("billing"),
//		Registerer: prometheus.DefaultRegisterer, Logger: slog.Default(),
//	})
//	client, err := framework.NewClient(servers, telemetry.ClientOptions()...)
//	telemetry.Watch("billing", client)
//	mutex := locks.NewInterProcessMutex(client, "/locks/nightly", telemetry.Lock("nightly"))
//
// README.md lists what there is to see; the dashboard and the alert rules beside it use the same names.
package observability

import (
	"context"
	"log/slog"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
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
}

// named is what tells locks apart in metrics.
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
	}
	if cfg.Registerer != nil {
		t.prom.register(cfg.Registerer)
		cfg.Registerer.MustRegister(gauges{t})
	}
	return t, nil
}

// ClientOptions have a client report.
func (t *Telemetry) ClientOptions() []framework.Option {
	return []framework.Option{
		framework.WithLogger(t.logger),
		framework.WithStateListener(func(s framework.State) { t.prom.states.WithLabelValues(s.String()).Inc() }),
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
// among them replaces the one that tells elections from locks.
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

func (t *Telemetry) trace(as named, attributes []attribute.KeyValue) locks.Trace {
	name := as.name
	attributes = append([]attribute.KeyValue{attribute.String("lock.name", name), attribute.String("lock.kind", as.kind)}, attributes...)
	l := &lock{Telemetry: t, named: as, attributes: attributes}
	l.begin()
	return locks.Trace{
		AcquireStart: l.acquireStart,
		Waiting:      l.waiting,
		AcquireEnd:   l.acquireEnd,
		RevocationRequested: func(asked locks.RevocationRequested) {
			t.prom.revocations.WithLabelValues(name).Inc()
			t.logger.Info("lock: holder asked to leave", slog.Group("lock", "name", name, "path", asked.Path, "node", asked.Node))
		},
		Released: func(r locks.Released) {
			l.holdEnd(holdKey{r.Path, r.Node, r.LocalCount}, r.Held, nil, r.Err)
			switch {
			case r.HandedOver:
				t.prom.retained.WithLabelValues(name, "handed_over").Inc()
			case r.Retained:
				t.prom.retained.WithLabelValues(name, "kept").Inc()
			}
		},
		Dropped: func(d locks.Dropped) {
			why := "idle"
			if d.Demanded {
				why = "demanded"
			}
			t.prom.retained.WithLabelValues(name, why).Inc()
		},
		Lost: func(lost locks.Lost) {
			l.holdEnd(holdKey{lost.Path, lost.Node, lost.LocalCount}, lost.Held, lost.Err, nil)
		},
	}
}

// A lock is one name under which locks report.
type lock struct {
	*Telemetry
	named

	attributes []attribute.KeyValue
}

// begin makes each counter with 0.
func (l *lock) begin() {
	for _, outcome := range outcomes {
		l.prom.acquires.WithLabelValues(l.name, l.kind, outcome)
	}
	for _, reason := range reasons {
		l.prom.losses.WithLabelValues(l.name, reason.text)
		l.countLoss(0, reason.text)
	}
	l.prom.revocations.WithLabelValues(l.name)
	for _, event := range []string{"handed_over", "kept", "idle", "demanded"} {
		l.prom.retained.WithLabelValues(l.name, event)
	}
	l.countWaiter(0)
	l.otel.held.Add(context.Background(), 0, metric.WithAttributes(l.attributes...))
}

func (l *lock) countLoss(n int64, reason string) {
	l.otel.lost.Add(context.Background(), n, metric.WithAttributes(l.attributes...),
		metric.WithAttributes(attribute.String("error.type", reason)))
}

func (l *lock) acquireStart(ctx context.Context, start locks.AcquireStart) context.Context {
	ctx, span := l.tracer.Start(ctx, "acquire "+l.name, trace.WithSpanKind(trace.SpanKindClient),
		trace.WithAttributes(l.attributes...), trace.WithAttributes(attribute.String("lock.path", start.Path)))
	return context.WithValue(ctx, acquiringKey{}, &acquiring{span: span})
}

// waiting notes on the span of an acquire for which node it waits.
func (l *lock) waiting(ctx context.Context, w locks.Waiting) {
	a, _ := ctx.Value(acquiringKey{}).(*acquiring)
	a.span.AddEvent("waiting", trace.WithAttributes(
		attribute.String("lock.predecessor", w.Predecessor), attribute.Int("lock.queue.position", w.Ahead)))
	if !a.waits {
		a.waits = true
		l.countWaiter(1)
	}
	if w.OwnClient && !w.Local { // the local queue of a retained lock is meant to be waited in
		l.logger.WarnContext(ctx, "lock: waits for its own client; was the lease's context handed on?",
			slog.Group("lock", "name", l.name, "path", w.Path, "node", w.Node, "predecessor", w.Predecessor))
	}
}

func (l *lock) countWaiter(n int) {
	l.mu.Lock()
	l.waiters[l.named] += n
	l.mu.Unlock()
	l.otel.waiting.Add(context.Background(), int64(n), metric.WithAttributes(l.attributes...))
}

func (l *lock) acquireEnd(ctx context.Context, end locks.AcquireEnd) {
	a, _ := ctx.Value(acquiringKey{}).(*acquiring)
	defer a.span.End()
	if a.waits {
		l.countWaiter(-1)
	}
	outcome := Outcome(end)
	l.prom.acquires.WithLabelValues(l.name, l.kind, outcome).Inc()
	a.span.SetAttributes(attribute.String("lock.outcome", outcome))
	if end.Reentered {
		return
	}
	l.otel.acquireDuration.Record(ctx, end.Waited.Seconds(), metric.WithAttributes(l.attributes...),
		metric.WithAttributes(attribute.String("lock.outcome", outcome)))
	if end.Err != nil {
		a.span.RecordError(end.Err)
		a.span.SetStatus(codes.Error, outcome)
		return
	}
	a.span.SetAttributes(attribute.String("lock.node", end.Node), attribute.Int64("lock.token", end.Token))
	l.prom.waits.WithLabelValues(l.name).Observe(end.Waited.Seconds())
	if end.HandOver > 0 {
		l.prom.handOvers.WithLabelValues(l.name).Observe(end.HandOver.Seconds())
		l.otel.handOverDuration.Record(ctx, end.HandOver.Seconds(), metric.WithAttributes(l.attributes...))
	}
	l.otel.held.Add(ctx, 1, metric.WithAttributes(l.attributes...))
	l.mu.Lock()
	defer l.mu.Unlock()
	l.holds[holdKey{end.Path, end.Node, end.LocalCount}] = hold{lock: l.named, since: time.Now(), acquire: a.span.SpanContext()}
}

// holdEnd makes the span of a hold when it is over: it began so long ago.
func (l *lock) holdEnd(key holdKey, held time.Duration, lost, unremoved error) {
	attributes := metric.WithAttributes(l.attributes...)
	l.prom.holds.WithLabelValues(l.name).Observe(held.Seconds())
	ctx := context.Background()
	l.otel.holdDuration.Record(ctx, held.Seconds(), attributes)
	l.mu.Lock()
	h, ok := l.holds[key]
	delete(l.holds, key)
	l.mu.Unlock()
	if ok {
		l.otel.held.Add(ctx, -1, attributes)
		ctx = trace.ContextWithSpanContext(ctx, h.acquire)
	}
	now := time.Now()
	_, span := l.tracer.Start(ctx, "hold "+l.name, trace.WithTimestamp(now.Add(-held)), trace.WithAttributes(l.attributes...),
		trace.WithLinks(trace.Link{SpanContext: h.acquire}),
		trace.WithAttributes(attribute.String("lock.path", key.path), attribute.String("lock.node", key.node)))
	defer span.End(trace.WithTimestamp(now))
	if lost != nil {
		why := Reason(lost)
		l.prom.losses.WithLabelValues(l.name, why).Inc()
		l.countLoss(1, why)
		l.logger.Warn("lock: lost", "error", lost,
			slog.Group("lock", "name", l.name, "path", key.path, "node", key.node, slog.Duration("held", held)))
		span.RecordError(lost)
		span.SetStatus(codes.Error, why)
	}
	if unremoved != nil {
		span.RecordError(unremoved) // it goes in the background
	}
}
