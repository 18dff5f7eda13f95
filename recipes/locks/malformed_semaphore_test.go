package locks_test

import (
	"context"
	"time"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/recipes/internal/malformtest"
	"github.com/gocurator/curator/recipes/locks"
	"github.com/gocurator/curator/recipes/shared"
)

func semaphoreOf(c *framework.Client) *locks.InterProcessSemaphoreV2 {
	return locks.NewInterProcessSemaphoreV2(c, path, 2)
}

// semaphoreStory is a client that takes leases of a semaphore, of which there are two.
func semaphoreStory() *malformtest.Story {
	one := func(c *framework.Client) locks.Lock { return semaphoreOf(c) }
	return &malformtest.Story{
		Recover: func(ctx context.Context, r *malformtest.Run) error {
			leases, err := semaphoreOf(r.Client).AcquireN(ctx, 2)
			giveBack(r, leases...)
			return err
		},
		Parts: malformtest.ForLong(
			malformtest.Part{Name: "taking two", Live: takesTwo, Kinds: []string{
				malformtest.FrameCreate, malformtest.FrameListing, malformtest.FrameDelete,
			}},
			malformtest.Part{Name: "waiting", Live: waitsForOneOfTwo, Kinds: []string{
				malformtest.FrameListing, malformtest.FrameGet, malformtest.FrameEvent, malformtest.FrameUnwatch,
			}},
			malformtest.Part{Name: "holding", Live: keeps(one), Kinds: []string{malformtest.FrameEvent, malformtest.FrameMulti}},
			malformtest.Part{Name: "following the limit", Live: followsTheLimit, Kinds: []string{malformtest.FrameGet, malformtest.FrameEvent}},
		),
	}
}

// takeTwo is tryFor of both leases.
func takeTwo(r *malformtest.Run) (leases []*locks.Lease) {
	_ = r.Bounded("AcquireN", malformtest.SpoilTime, func(ctx context.Context) (err error) {
		leases, err = semaphoreOf(r.Client).AcquireN(ctx, 2)
		return err
	})
	return leases
}

func takesTwo(r *malformtest.Run) {
	r.Arm()
	giveBack(r, takeTwo(r)...)
}

// waitsForOneOfTwo has the client wait for a lease while another client has both, of which it releases one.
func waitsForOneOfTwo(r *malformtest.Run) {
	held, err := semaphoreOf(r.Honest).AcquireN(r.T.Context(), 2)
	if err != nil {
		r.T.Fatal(err)
	}
	r.Arm()
	results := make(chan *locks.Lease, 1)
	go func() { results <- tryFor(r, malformtest.SpoilTime, semaphoreOf(r.Client)) }()
	time.Sleep(time.Second)
	stir(r)
	time.Sleep(malformtest.SpoilTime/2 - time.Second)
	select {
	case lease := <-results:
		if lease != nil {
			r.Bad(malformtest.OutcomeGrant, "a lease %s beside two others", lease.NodeName())
		}
		giveBack(r, lease)
		giveBack(r, held...)
	default:
		giveBack(r, held[0])
		giveBack(r, <-results, held[1])
	}
}

// followsTheLimit has the client take leases by a limit that is raised from one to two, and lowered again.
func followsTheLimit(r *malformtest.Run) {
	const counter = "/limit"
	limit := shared.NewSharedCount(r.Honest, counter, 1)
	if err := limit.Start(r.T.Context()); err != nil {
		r.T.Fatal(err)
	}
	defer limit.Close()
	semaphore := locks.NewInterProcessSemaphoreV2WithCount(r.Honest, path, limit)
	held := acquire(r.T, semaphore)
	r.Arm()
	mine := shared.NewSharedCount(r.Client, counter, 1)
	err := r.Bounded("Start", malformtest.SpoilTime, mine.Start)
	if err == nil {
		defer mine.Close()
	}
	results := make(chan *locks.Lease, 1)
	go func() {
		results <- tryFor(r, malformtest.SpoilTime, locks.NewInterProcessSemaphoreV2WithCount(r.Client, path, mine))
	}()
	time.Sleep(time.Second)
	select {
	case lease := <-results:
		if lease != nil {
			r.Bad(malformtest.OutcomeGrant, "%s beside %s with a limit of 1", lease.NodeName(), held.NodeName())
		}
		results <- lease
	default:
	}
	if err := limit.SetCount(r.T.Context(), 2); err != nil {
		r.T.Error(err)
	}
	lease := <-results
	if err := limit.SetCount(r.T.Context(), 1); err != nil {
		r.T.Error(err)
	}
	giveBack(r, lease, held)
}
