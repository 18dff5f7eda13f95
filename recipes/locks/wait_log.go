package locks

import (
	"context"
	"log/slog"
	"time"

	"github.com/gocurator/curator/recipes/internal/queue"
)

// A waitLog writes waits to the client's log: at Debug when one begins or moves up, at Warn when it is long (see
// queue.LongWait), then at Info each time that it has doubled, and at its end.
type waitLog struct {
	logger *slog.Logger
	// ownLease reports whether a contender waits for a lease of its own client, perhaps in a deadlock.
	ownLease func(queue.Progress) bool
}

func (l waitLog) waiting(ctx context.Context, path string, at queue.Progress) {
	if l.logger.Enabled(ctx, slog.LevelDebug) {
		l.logger.LogAttrs(ctx, slog.LevelDebug, "locks: waiting", l.place(path, at)...)
	}
}

func (l waitLog) late(ctx context.Context, path string, at queue.Progress, waited time.Duration, first bool) {
	level, text := slog.LevelInfo, "locks: still waiting"
	if first {
		level, text = slog.LevelWarn, "locks: still waiting after the session timeout"
	}
	if l.logger.Enabled(ctx, level) {
		l.logger.LogAttrs(ctx, level, text, append(l.place(path, at), duration("waited", waited))...)
	}
}

// ended writes the end of an acquire, except a re-entry. The caller logs an error, unless the log has the wait's
// beginning.
func (l waitLog) ended(ctx context.Context, at queue.Progress, end AcquireEnd) {
	level := slog.LevelDebug
	if at.WaitsLong {
		level = slog.LevelInfo
	}
	switch {
	case end.Reentered, end.Err != nil && !at.Waits, !l.logger.Enabled(ctx, level):
	case end.Err != nil:
		l.logger.LogAttrs(ctx, level, "locks: gave up",
			append(l.place(end.Path, at), duration("waited", end.Waited), slog.Any("error", end.Err))...)
	default:
		l.logger.LogAttrs(ctx, level, "locks: acquired",
			slog.String("path", end.Path), slog.String("node", end.Node), slog.Int64("token", end.Token), duration("waited", end.Waited))
	}
}

func (l waitLog) place(path string, at queue.Progress) []slog.Attr {
	attrs := append(make([]slog.Attr, 0, 9), slog.String("path", path)) // room for what the callers add
	if at.Node != "" {
		attrs = append(attrs, slog.String("node", at.Node))
	}
	if at.Predecessor != "" {
		attrs = append(attrs, slog.String("predecessor", at.Predecessor))
	}
	attrs = append(attrs, slog.Int("ahead", at.Ahead), slog.Bool("ownClient", at.OwnClient))
	if at.Local {
		attrs = append(attrs, slog.Bool("local", true))
	}
	if l.ownLease(at) {
		attrs = append(attrs, slog.Bool("ownLease", true))
	}
	return attrs
}

func duration(key string, d time.Duration) slog.Attr {
	return slog.Duration(key, d.Round(time.Millisecond))
}
