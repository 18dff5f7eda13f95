package locks

import (
	"context"
	"log/slog"
	"time"

	"github.com/gocurator/curator/recipes/internal/queue"
)

// A waitLog writes waits to the client's log: at Debug when one begins or moves up; at Warn, once, when one has lasted
// for a session timeout: a holder that died has lost its lock by then, so this one lives.
type waitLog struct{ logger *slog.Logger }

func (l waitLog) waiting(ctx context.Context, path string, at queue.Progress) {
	if l.logger.Enabled(ctx, slog.LevelDebug) {
		l.logger.LogAttrs(ctx, slog.LevelDebug, "locks: waiting", place(path, at)...)
	}
}

func (l waitLog) late(ctx context.Context, path string, at queue.Progress, waited time.Duration) {
	l.logger.LogAttrs(ctx, slog.LevelWarn, "locks: still waiting after the session timeout",
		append(place(path, at), slog.Duration("waited", waited))...)
}

// place is where a contender stood when it looked last. One that waits in this process has no node.
func place(path string, at queue.Progress) []slog.Attr {
	return []slog.Attr{
		slog.String("path", path), slog.String("node", at.Node), slog.String("predecessor", at.Predecessor),
		slog.Int("ahead", at.Ahead), slog.Bool("ownClient", at.OwnClient),
	}
}

// awaitTurn blocks until a baton has come, or until ctx is done. After patience it logs where the waiter stands.
func (l waitLog) awaitTurn(
	ctx context.Context, path string, at queue.Progress, patience time.Duration, turn <-chan baton,
) (b baton, came bool) {
	late := time.NewTimer(patience)
	defer late.Stop()
	for {
		select {
		case b = <-turn:
			return b, true
		case <-late.C:
			l.late(ctx, path, at, patience)
		case <-ctx.Done():
			return baton{}, false
		}
	}
}
