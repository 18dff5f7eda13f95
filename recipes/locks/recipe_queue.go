package locks

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/gocurator/curator/framework/session"
	"github.com/gocurator/curator/recipes/internal/queue"
)

func (r *recipe) config(dir string, k kind) queue.Config {
	path, trace, waits, holds, waiting := r.path, r.trace, r.waits, r.holds, r.opts.Waiting
	cfg := queue.Config{
		Lock: r.id, Dir: dir, Marker: k.marker, Counts: queue.LockMarkers(r.opts.Node.Markers()...), Data: r.opts.Node.Bytes(),
		LeaveMessage: revokeMessage,
	}
	cfg.Events = queue.Events{
		Ended: func(g *queue.Grant, cause error) error {
			if errors.Is(cause, queue.ErrReleased) {
				return ErrReleased
			}
			return &LostError{Path: path, Node: g.Name, Session: g.Session.ID(), Reason: cause}
		},
		Waiting: func(ctx context.Context, at queue.Progress) {
			waits.waiting(ctx, path, at)
			trace.waiting(ctx, Waiting{Path: path, Node: at.Node, Predecessor: at.Predecessor, Ahead: at.Ahead, OwnClient: at.OwnClient})
			if waiting != nil {
				waiting()
			}
		},
		LongWait: func(ctx context.Context, at queue.Progress, waited time.Duration, first bool) {
			waits.late(ctx, path, at, waited, first)
		},
		Asked: func(g *queue.Grant) { trace.revocationRequested(RevocationRequested{Path: path, Node: g.Name}) },
		Lost: func(g *queue.Grant, ended time.Time, err error) {
			lost := Lost{
				Path: path, Node: g.Name, Held: ended.Sub(g.Since), FencingCount: g.Count, Zxid: g.Session.LastZxid(), Err: err,
			}
			queue.OnSettled(err, func() {
				lost.Explanation = session.Explain(err)
				holds.lost(lost, ended)
				trace.lost(lost)
			})
		},
	}
	if r.id.client != nil {
		cfg.Source = r.id.client
	}
	switch {
	case r.opts.Variant != nil:
		r.vary(&cfg)
	case k.leases:
		cfg.Counts = map[string]bool{queue.LeaseMarker: false}
	default:
		cfg.Foreign = refuseSemaphore
	}
	return cfg
}

func (r *recipe) vary(cfg *queue.Config) {
	cfg.Counts = map[string]bool{r.opts.Variant.Marker: false}
	for _, marker := range r.opts.Node.Markers() {
		cfg.Counts[marker] = false
	}
	cfg.LeaveMessage, cfg.Asked = "", nil
}

// refuseSemaphore refuses a semaphore's directory, whose contenders stand in another queue.
func refuseSemaphore(children []string) error {
	if slices.Contains(children, leaseDirectory) {
		return fmt.Errorf("%w: there is a semaphore's directory %s", ErrOtherRecipe, leaseDirectory)
	}
	return nil
}
