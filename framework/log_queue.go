package framework

import (
	"context"
	"log/slog"
	"time"
)

// A logQueue is a slog.Handler that hands records to the user's handler on a goroutine of its own: the client logs under locks
// and on the goroutine that ends leases, and a handler may block, or ask the client for its state.
type logQueue struct {
	calls   *callbacks
	handler slog.Handler
}

func newLogQueue(calls *callbacks, handler slog.Handler) slog.Handler {
	calls.limit = callbackLimit
	calls.dropped = func(count int) func() {
		r := slog.NewRecord(time.Now(), slog.LevelWarn, "framework: log records were dropped, since the log handler is too slow", 0)
		r.AddAttrs(slog.Int("dropped", count))
		return func() { handle(context.Background(), handler, r) } //nolint:forbidigo // the record is the client's own
	}
	return logQueue{calls: calls, handler: handler}
}

// Enabled is true for every level: to ask the user's handler would be to call it.
func (logQueue) Enabled(context.Context, slog.Level) bool { return true }

func (q logQueue) Handle(ctx context.Context, r slog.Record) error {
	r = r.Clone()
	q.calls.push(func() { handle(ctx, q.handler, r) })
	return nil
}

func (q logQueue) WithAttrs(attrs []slog.Attr) slog.Handler {
	return logQueue{calls: q.calls, handler: q.handler.WithAttrs(attrs)}
}

func (q logQueue) WithGroup(name string) slog.Handler {
	return logQueue{calls: q.calls, handler: q.handler.WithGroup(name)}
}
