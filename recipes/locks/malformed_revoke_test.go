package locks_test

import (
	"context"
	"errors"
	"time"

	"github.com/gocurator/curator/recipes/internal/malformtest"
	"github.com/gocurator/curator/recipes/locks"
)

// revocationStory is a client that is asked to leave, and asks others.
func revocationStory() *malformtest.Story {
	return &malformtest.Story{
		Recover: leavesWhenAsked,
		Parts: malformtest.ForLong(
			malformtest.Part{
				Name: "asked", Live: isAskedToLeave, Kinds: []string{malformtest.FrameGet, malformtest.FrameEvent},
				// Data that the client does not take is not read again: only the existence of the node is watched.
				Only: func(m malformtest.Malformation) bool { return m.Name != "length is 2147483647" },
			},
			malformtest.Part{Name: "asking", Live: asksToLeave, Kinds: []string{malformtest.FrameSet}},
		),
	}
}

// leavesWhenAsked has the client take the lock, hear that it is to leave, and do so.
func leavesWhenAsked(ctx context.Context, r *malformtest.Run) error {
	lease, err := mutexOf(r.Client).Acquire(ctx)
	if err != nil {
		return err
	}
	defer giveBack(r, lease)
	time.Sleep(time.Second)
	if err := locks.AttemptRevoke(ctx, r.Honest, path+"/"+lease.NodeName()); err != nil {
		return err
	}
	return hears(ctx, lease)
}

// hears waits until the holder is asked to leave.
func hears(ctx context.Context, lease *locks.Lease) error {
	select {
	case <-lease.RevocationRequested():
		return nil
	case <-lease.Done():
		return lease.Err()
	case <-ctx.Done():
		return errors.New("the holder has not heard that it is to leave")
	}
}

// isAskedToLeave asks the client to leave when the watch on its node is being set or has been.
func isAskedToLeave(r *malformtest.Run) {
	r.Arm()
	lease := tryFor(r, malformtest.SpoilTime, mutexOf(r.Client))
	if lease == nil {
		return
	}
	time.Sleep(time.Second)
	if err := locks.AttemptRevoke(r.T.Context(), r.Honest, path+"/"+lease.NodeName()); err != nil {
		r.T.Log(err) // a malformation had the client remove the node
	}
	ctx, cancel := context.WithTimeout(r.T.Context(), 3*malformtest.SessionTimeout) // for one event that is lost
	defer cancel()
	if err := hears(ctx, lease); err != nil && lease.Err() == nil {
		r.Bad(malformtest.OutcomeLocked, "%v", err)
	}
	giveBack(r, lease)
}

// asksToLeave has the client ask the other to leave. A success must be true.
func asksToLeave(r *malformtest.Run) {
	held := acquire(r.T, mutexOf(r.Honest))
	time.Sleep(time.Second)
	r.Arm()
	err := r.Bounded("AttemptRevoke", malformtest.SpoilTime, func(ctx context.Context) error {
		return locks.AttemptRevoke(ctx, r.Client, path+"/"+held.NodeName())
	})
	time.Sleep(time.Second)
	if err == nil && !isAsked(held) {
		r.Bad(malformtest.OutcomeFalse, "AttemptRevoke has asked no holder")
	}
	release(r.T, held)
}
