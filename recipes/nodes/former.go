package nodes

import (
	"context"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/framework/session"
)

// rulesOutFormer reports whether a view shows that there is no node of an earlier session.
func (k *keeper) rulesOutFormer(view framework.View) bool {
	switch view.Status {
	case framework.StatusGone:
		return true
	case framework.StatusPresent:
		return view.Own || !k.registry.had(view.Stat.EphemeralOwner)
	default:
		return false
	}
}

// takeFormer makes a node of an earlier session this session's, which can delete it for sure: the present session has
// begun right before the end, and has not replaced that node yet. It has a connection timeout for that, after the end
// of ctx, and returns context.DeadlineExceeded if no server has answered: then the node goes with its session.
func (k *keeper) takeFormer(ctx context.Context, s session.Session) error {
	if k.sure {
		return nil
	}
	client := k.node.client
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), client.ConnectionTimeout())
	defer cancel()
	path := client.RelativePath(k.path)
	if err := client.Sync(ctx, path); err != nil {
		return ctx.Err()
	}
	stat, err := client.Exists(ctx, path)
	if err == nil && stat != nil && stat.EphemeralOwner != s.ID() && k.registry.had(stat.EphemeralOwner) {
		_ = s.CreateAt(ctx, k.path, nil, stat)
	}
	return ctx.Err()
}
