package main

import (
	"context"
	"errors"
	"log/slog"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/trace"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/recipes/locks"
)

// Telemetry turns what locks and clients tell into spans, metrics and log lines. Make one for the process.
type Telemetry struct {
	tracer trace.Tracer
	logger *slog.Logger

	acquires    *prometheus.CounterVec   // by lock and outcome
	waits       *prometheus.HistogramVec // by lock
	handOvers   *prometheus.HistogramVec
	holds       *prometheus.HistogramVec
	losses      *prometheus.CounterVec // by lock and reason
	revocations *prometheus.CounterVec
	states      *prometheus.CounterVec // by state
	orphans     prometheus.Counter
	refusals    prometheus.Counter

	mu      sync.Mutex
	granted map[string]trace.SpanContext // by node: the acquire that each hold began with
}

// NewTelemetry registers the metrics.
func NewTelemetry(tracer trace.Tracer, registry prometheus.Registerer, logger *slog.Logger) *Telemetry {
	counter := func(name, help string, labels ...string) *prometheus.CounterVec {
		return prometheus.NewCounterVec(prometheus.CounterOpts{Name: name, Help: help}, labels)
	}
	histogram := func(name, help string) *prometheus.HistogramVec {
		return prometheus.NewHistogramVec(prometheus.HistogramOpts{
			Name: name, Help: help, Buckets: prometheus.ExponentialBuckets(0.0005, 4, 10), // half a millisecond to two minutes
		}, []string{"lock"})
	}
	t := &Telemetry{
		tracer: tracer, logger: logger,
		acquires:    counter("curator_lock_acquires_total", "Acquires that returned, by outcome.", "lock", "outcome"),
		waits:       histogram("curator_lock_wait_seconds", "How long successful acquires took."),
		handOvers:   histogram("curator_lock_handover_seconds", "From the news that the lock is free to the grant."),
		holds:       histogram("curator_lock_hold_seconds", "How long holds lasted."),
		losses:      counter("curator_lock_lost_total", "Holds that ended without their release.", "lock", "reason"),
		revocations: counter("curator_lock_revocation_requests_total", "Holders that were asked to leave.", "lock"),
		states:      counter("curator_client_states_total", "Changes of the connection's state.", "state"),
		orphans: prometheus.NewCounter(prometheus.CounterOpts{
			Name: "curator_client_orphans_total", Help: "Nodes whose creation was not answered, found and removed.",
		}),
		refusals: prometheus.NewCounter(prometheus.CounterOpts{
			Name: "curator_client_removals_refused_total", Help: "Nodes that must go and that the server does not let go.",
		}),
		granted: map[string]trace.SpanContext{},
	}
	registry.MustRegister(
		t.acquires, t.waits, t.handOvers, t.holds, t.losses, t.revocations, t.states, t.orphans, t.refusals)
	return t
}

// ClientOptions have a client tell.
func (t *Telemetry) ClientOptions() []framework.Option {
	return []framework.Option{
		framework.WithLogger(t.logger),
		framework.WithStateListener(func(s framework.State) { t.states.WithLabelValues(s.String()).Inc() }),
		framework.WithTrace(framework.Trace{
			OrphanFound:   func(string) { t.orphans.Inc() },
			RemovalFailed: func(string, error) { t.refusals.Inc() },
		}),
	}
}

// Lock has a lock tell, under a name that is one of a few: a path that has an order's number in it would make a metric each.
func (t *Telemetry) Lock(name string) locks.Option {
	return locks.WithTrace(locks.Trace{
		AcquireStart: func(ctx context.Context, start locks.AcquireStart) context.Context {
			ctx, _ = t.tracer.Start(ctx, "lock.acquire", trace.WithAttributes(attribute.String("lock.path", start.Path)))
			return ctx
		},
		Waiting:    t.waiting,
		AcquireEnd: func(ctx context.Context, end locks.AcquireEnd) { t.acquireEnd(ctx, name, end) },
		RevocationRequested: func(asked locks.RevocationRequested) {
			t.revocations.WithLabelValues(name).Inc()
			t.logger.Info("lock: holder asked to leave", "path", asked.Path, "node", asked.Node)
		},
		Released: func(r locks.Released) { t.holdEnd(name, r.Path, r.Node, r.Held, nil, r.Err) },
		Lost:     func(l locks.Lost) { t.holdEnd(name, l.Path, l.Node, l.Held, l.Err, nil) },
	})
}

// waiting notes on the span of an acquire whom it waits for.
func (t *Telemetry) waiting(ctx context.Context, w locks.Waiting) {
	trace.SpanFromContext(ctx).AddEvent("waiting", trace.WithAttributes(
		attribute.String("lock.predecessor", w.Predecessor), attribute.Int("lock.ahead", w.Ahead)))
	if w.OwnClient {
		t.logger.WarnContext(ctx, "lock: waits for its own client; was the lease's context handed on?",
			"path", w.Path, "node", w.Node, "predecessor", w.Predecessor)
	}
}

func (t *Telemetry) acquireEnd(ctx context.Context, name string, end locks.AcquireEnd) {
	span := trace.SpanFromContext(ctx)
	defer span.End()
	t.acquires.WithLabelValues(name, outcome(end)).Inc()
	if end.Err != nil {
		span.RecordError(end.Err)
		span.SetStatus(codes.Error, outcome(end))
		return
	}
	span.SetAttributes(attribute.String("lock.node", end.Node), attribute.Int64("lock.token", end.Token))
	if end.Reentered {
		return
	}
	t.waits.WithLabelValues(name).Observe(end.Waited.Seconds())
	if end.HandOver > 0 {
		t.handOvers.WithLabelValues(name).Observe(end.HandOver.Seconds())
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	t.granted[end.Node] = span.SpanContext()
}

// holdEnd makes the span of a hold when it is over: it began so long ago.
func (t *Telemetry) holdEnd(name, path, node string, held time.Duration, lost, unremoved error) {
	t.holds.WithLabelValues(name).Observe(held.Seconds())
	t.mu.Lock()
	acquire, ok := t.granted[node]
	delete(t.granted, node)
	t.mu.Unlock()
	ctx := context.Background()
	if ok {
		ctx = trace.ContextWithSpanContext(ctx, acquire)
	}
	now := time.Now()
	_, span := t.tracer.Start(ctx, "lock.hold", trace.WithTimestamp(now.Add(-held)), trace.WithAttributes(
		attribute.String("lock.path", path), attribute.String("lock.node", node)))
	defer span.End(trace.WithTimestamp(now))
	if lost != nil {
		t.losses.WithLabelValues(name, reason(lost)).Inc()
		t.logger.Warn("lock: lost", "path", path, "node", node, "held", held, "error", lost)
		span.RecordError(lost)
		span.SetStatus(codes.Error, reason(lost))
	}
	if unremoved != nil {
		span.RecordError(unremoved) // it goes in the background
	}
}

// outcome is how an acquire ended, in a few words.
func outcome(end locks.AcquireEnd) string {
	switch {
	case end.Err == nil && end.Reentered:
		return "reentered"
	case end.Err == nil:
		return "acquired"
	case errors.Is(end.Err, locks.ErrNotAcquired):
		return "taken"
	case errors.Is(end.Err, context.DeadlineExceeded):
		return "timeout"
	case errors.Is(end.Err, context.Canceled):
		return "cancelled"
	default:
		return "error"
	}
}

// reason is why a lock was lost, in a few words.
func reason(lost error) string {
	for _, r := range []struct {
		err  error
		text string
	}{
		{locks.ErrRemoved, "removed"},
		{framework.ErrClosed, "closed"},
		{framework.ErrLapsed, "lapsed"},
		{framework.ErrSuspended, "suspended"},
		{framework.ErrSessionLost, "session"},
	} {
		if errors.Is(lost, r.err) {
			return r.text
		}
	}
	return "other"
}
