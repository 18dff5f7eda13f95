package observability

import (
	"context"
	"log/slog"
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/metric"
	"go.opentelemetry.io/otel/trace"

	"github.com/gocurator/curator/framework/session"
	"github.com/gocurator/curator/recipes/locks"
)

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
			l.holdEnd(holdKey{r.Path, r.Node, r.FencingCount}, r.Held, nil, r.Err)
			switch {
			case r.HandedOver:
				t.prom.retained.WithLabelValues(name, "handed_over").Inc()
			case r.Retained:
				t.prom.retained.WithLabelValues(name, "kept").Inc()
			}
		},
		RetentionEnded: func(d locks.RetentionEnded) {
			why := "idle"
			if d.Demanded {
				why = "demanded"
			}
			t.prom.retained.WithLabelValues(name, why).Inc()
		},
		Lost: func(lost locks.Lost) {
			l.holdEnd(holdKey{lost.Path, lost.Node, lost.FencingCount}, lost.Held, &lost, nil)
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
	}
	for _, kind := range session.LossKinds() {
		l.prom.causes.WithLabelValues(l.name, kind.String())
		l.countLoss(0, kind)
	}
	l.prom.revocations.WithLabelValues(l.name)
	for _, event := range []string{"handed_over", "kept", "idle", "demanded"} {
		l.prom.retained.WithLabelValues(l.name, event)
	}
	if l.kind == kindElection {
		l.mu.Lock()
		if l.elections[l.name] == nil {
			l.elections[l.name] = &election{}
		}
		l.mu.Unlock()
	}
	l.countWaiter(0)
	l.otel.held.Add(context.Background(), 0, metric.WithAttributes(l.attributes...))
}

func (l *lock) countLoss(n int64, cause session.LossKind) {
	l.otel.lost.Add(context.Background(), n, metric.WithAttributes(l.attributes...),
		metric.WithAttributes(attribute.String("error.type", cause.String())))
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
		a.span.SetAttributes(attribute.String("error.type", outcome))
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
	l.holds[holdKey{end.Path, end.Node, end.FencingCount}] = hold{lock: l.named, since: time.Now(), acquire: a.span.SpanContext()}
}

// holdEnd makes the span of a hold when it is over, which the trace reports after the removal of its node. The span
// begins at the hold's own AcquireEnd, unless the client dropped that.
func (l *lock) holdEnd(key holdKey, held time.Duration, lost *locks.Lost, unremoved error) {
	attributes := metric.WithAttributes(l.attributes...)
	l.prom.holds.WithLabelValues(l.name).Observe(held.Seconds())
	ctx := context.Background()
	l.otel.holdDuration.Record(ctx, held.Seconds(), attributes)
	l.mu.Lock()
	h, ok := l.holds[key]
	delete(l.holds, key)
	if l.kind == kindElection {
		l.elections[l.name].ended += held
	}
	l.mu.Unlock()
	if ok {
		l.otel.held.Add(ctx, -1, attributes)
		ctx = trace.ContextWithSpanContext(ctx, h.acquire)
	}
	if !ok {
		h.since = time.Now().Add(-held)
	}
	_, span := l.tracer.Start(ctx, "hold "+l.name, trace.WithTimestamp(h.since), trace.WithAttributes(l.attributes...),
		trace.WithLinks(trace.Link{SpanContext: h.acquire}),
		trace.WithAttributes(attribute.String("lock.path", key.path), attribute.String("lock.node", key.node)))
	defer span.End(trace.WithTimestamp(h.since.Add(held)))
	if lost != nil {
		why := Reason(lost.Err)
		l.prom.losses.WithLabelValues(l.name, why).Inc()
		l.prom.causes.WithLabelValues(l.name, lost.Explanation.Kind.String()).Inc()
		l.countLoss(1, lost.Explanation.Kind)
		l.logger.Warn("lock: lost", "error", lost.Err, "cause", lost.Explanation.Sentence,
			slog.Group("lock", "name", l.name, "path", key.path, "node", key.node, slog.Duration("held", held)))
		span.RecordError(lost.Err, trace.WithAttributes(attribute.String("lock.lost.cause", lost.Explanation.Sentence)))
		span.SetAttributes(attribute.String("error.type", lost.Explanation.Kind.String()))
		span.SetStatus(codes.Error, why)
	}
	if unremoved != nil {
		span.RecordError(unremoved) // it goes in the background
	}
}
