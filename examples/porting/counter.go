package porting

import (
	"context"
	"errors"
	"log/slog"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/recipes/shared"
)

// Raise is Counter.raise.
func Raise(ctx context.Context, client *framework.Client, by int32) (now int32, err error) {
	count := shared.NewSharedCount(client, "/limit", 1)
	count.OnChange(func(now int32) { slog.Debug("now", "count", now) })
	if err := count.Start(ctx); err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, count.Close()) }()
	for done := false; !done; {
		seen := count.VersionedValue()
		if done, err = count.TrySetCount(ctx, seen, seen.Value+by); err != nil {
			return 0, err
		}
	}
	return count.Count(), nil
}

// SetCount is Counter.set.
func SetCount(ctx context.Context, client *framework.Client, to int32) error {
	count := shared.NewSharedCount(client, "/limit", 1)
	if err := count.Start(ctx); err != nil {
		return err
	}
	return errors.Join(count.SetCount(ctx, to), count.Close())
}
