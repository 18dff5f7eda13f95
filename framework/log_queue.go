package framework

import (
	"context"
	"log/slog"
	"sync/atomic"
	"time"

	"github.com/gocurator/curator/framework/listen"
)

// A logQueue is a slog.Handler that hands records to the user's handler on a goroutine of its own: the client logs
// under locks and on the goroutine that ends leases, and a handler may block, or ask the client for its state.
type logQueue struct {
	calls   *listen.Queue[func()]
	handler slog.Handler
	details *atomic.Pointer[time.Time] // when the handler last refused Debug
}

// detailsPause is how long a handler that is not enabled for Debug gets no such records: thousands of acquires in a
// second would fill the queue with them.
const detailsPause = time.Second

func newLogQueue(handler slog.Handler) logQueue {
	dropped := func(count int) func() {
		r := slog.NewRecord(time.Now(), slog.LevelWarn, "framework: log records were dropped, since the log handler is too slow", 0)
		r.AddAttrs(slog.Int("dropped", count))
		return func() { _ = handle(context.Background(), handler, r) } //nolint:forbidigo // the record is the client's own
	}
	calls := listen.Bounded(callbackLimit, dropped, func(call func()) { call() })
	return logQueue{calls: calls, handler: handler, details: new(atomic.Pointer[time.Time])}
}

// Enabled goes by the last answer that a record got, since it must not call the user's handler.
func (q logQueue) Enabled(_ context.Context, level slog.Level) bool {
	if level >= slog.LevelInfo {
		return true
	}
	refused := q.details.Load()
	return refused == nil || time.Since(*refused) >= detailsPause
}

func (q logQueue) Handle(ctx context.Context, r slog.Record) error {
	if r.Level < slog.LevelInfo {
		// one record a second asks again: others would push out warnings while the handler blocks
		if refused := q.details.Load(); refused != nil {
			now := time.Now()
			if now.Sub(*refused) < detailsPause || !q.details.CompareAndSwap(refused, &now) {
				return nil
			}
		}
	}
	r = r.Clone()
	q.calls.Push(func() {
		enabled := handle(ctx, q.handler, r)
		switch {
		case r.Level >= slog.LevelInfo:
		case enabled:
			q.details.Store(nil)
		default:
			now := time.Now()
			q.details.Store(&now)
		}
	})
	return nil
}

func (q logQueue) WithAttrs(attrs []slog.Attr) slog.Handler {
	q.handler = q.handler.WithAttrs(attrs)
	return q
}

func (q logQueue) WithGroup(name string) slog.Handler {
	q.handler = q.handler.WithGroup(name)
	return q
}
