package locks

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"
)

// A holdLog writes the ends of holds to the client's log: losses at Warn, releases at Debug.
type holdLog struct{ logger *slog.Logger }

// enabled saves making a record. The end of a hold has no context of a caller.
func (l holdLog) enabled(level slog.Level) bool {
	return l.logger.Enabled(context.Background(), level) //nolint:forbidigo // as above
}

// lost is called for each lost hold, after the end of its session's leases. It does not block. The record has the time
// of the end, which a paused process notices late.
func (l holdLog) lost(lost Lost, ended time.Time) {
	var why *LostError
	if !l.enabled(slog.LevelWarn) || !errors.As(lost.Err, &why) {
		return
	}
	l.logger.Warn("locks: lease lost", slog.String("path", lost.Path), slog.String("node", lost.Node),
		slog.String("session", fmt.Sprintf("%#x", why.Session)), duration("held", lost.Held),
		slog.Time("ended", ended.Round(0)), slog.String("reason", bare(why.Reason)),
		slog.String("cause", lost.Explanation.Sentence))
}

func (l holdLog) released(released Released) {
	if !l.enabled(slog.LevelDebug) {
		return
	}
	attrs := []any{slog.String("path", released.Path), slog.String("node", released.Node), duration("held", released.Held)}
	switch {
	case released.HandedOver:
		attrs = append(attrs, slog.Bool("handedOver", true))
	case released.Retained:
		attrs = append(attrs, slog.Bool("retained", true))
	case released.Err != nil:
		attrs = append(attrs, slog.Any("error", released.Err))
	}
	l.logger.Debug("locks: released", attrs...)
}

// dropped is called once for a lease that the program has dropped.
func (l holdLog) dropped(lease *leaseState) {
	if !l.enabled(slog.LevelError) {
		return
	}
	attrs := []any{
		slog.String("path", lease.recipe.path), slog.String("node", lease.grant.Name), slog.Int64("token", lease.grant.Token),
		duration("held", time.Since(lease.grant.Since)),
	}
	if lease.callers != nil {
		attrs = append(attrs, slog.String("caller", caller(lease.callers)))
	}
	l.logger.Error("locks: lease dropped without Release, the lock stays held", attrs...)
}
