package nodes

import (
	"context"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/framework/session"
)

// rulesOutFormer reports whether a view shows that there is no node of an earlier session.
func (k *keeper) rulesOutFormer(view framework.View) bool {
	switch {
	case view.Status == framework.StatusGone:
		return true
	case view.Current:
		return view.Own || !k.registry.had(view.Stat.EphemeralOwner)
	default:
		return false
	}
}

// takeFormer makes a node of an earlier session the present one's, which RemoveAt can delete: the present session has
// begun right before the end, and has not replaced that node yet. It has a connection timeout for that, after the end
// of ctx. A node that is left goes with its session.
func (k *keeper) takeFormer(ctx context.Context, s session.Session) error {
	if k.sure {
		return nil
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), k.node.client.ConnectionTimeout())
	defer cancel()
	switch err := k.replaceFormer(ctx, s); {
	case s.Err() != nil:
		return nil
	case ctx.Err() != nil:
		return context.DeadlineExceeded
	default:
		return err
	}
}

// replaceFormer waits for a view that shows whose the node is.
func (k *keeper) replaceFormer(ctx context.Context, s session.Session) error {
	watch := s.WatchData(k.path, k.waiter.Signal)
	defer watch.Stop()
	for {
		switch view := watch.View(); {
		case k.rulesOutFormer(view):
			return nil
		case view.Status == framework.StatusFailed:
			return view.Err
		case view.Current:
			return k.replace(ctx, s, []byte{}, view.Stat)
		}
		if err := k.waiter.Wait(ctx, s, nil); err != nil {
			return err
		}
	}
}
