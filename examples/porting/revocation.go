package porting

import (
	"context"
	"errors"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/recipes/locks"
)

// HoldUntilAsked is Revocation.holdUntilAsked. Every lease of every lock can be asked; nothing has to be switched on.
func HoldUntilAsked(ctx context.Context, client *framework.Client, holding Work) error {
	lease, err := locks.NewInterProcessMutex(client, "/locks/nightly").Acquire(ctx)
	if err != nil {
		return err
	}
	ctx = lease.Context(ctx)
	err = holding(ctx)
	select {
	case <-lease.RevocationRequested():
	case <-ctx.Done(): // also when the lock is lost
	}
	return errors.Join(err, lease.Release())
}

// Ask is Revocation.ask.
func Ask(ctx context.Context, client *framework.Client) error {
	queue, err := locks.NewInterProcessMutex(client, "/locks/nightly").Participants(ctx)
	if err != nil || len(queue) == 0 {
		return err
	}
	return locks.AttemptRevoke(ctx, client, queue[0].Path)
}
