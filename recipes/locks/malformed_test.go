package locks_test

import (
	"context"
	"maps"
	"slices"
	"testing"
	"time"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/recipes/internal/malformtest"
	"github.com/gocurator/curator/recipes/locks"
)

// malformedStories are the uses of a client whose frames are spoiled. Elections have theirs in recipes/leader.
var malformedStories = map[string]func() *malformtest.Story{
	"mutex":           mutexStory,
	"retained lock":   retainedStory,
	"semaphore":       semaphoreStory,
	"read-write lock": readWriteStory,
	"revocation":      revocationStory,
	"transactions":    transactionStory,
	"tree watches":    treeWatchStory,
	"trees and ACLs":  treeStory,
	"SASL":            saslStory,
	"authorization":   authorizationStory,
	"renewals":        renewalStory,
}

// TestMalformedFramesDoNoHarm spoils one frame after the other that a client gets from its server. It prints the counts
// by outcome:
//
//	go test ./recipes/locks -run TestMalformedFramesDoNoHarm -v
func TestMalformedFramesDoNoHarm(t *testing.T) {
	for _, name := range slices.Sorted(maps.Keys(malformedStories)) {
		t.Run(name, func(t *testing.T) { malformedStories[name]().Play(t) })
	}
}

// tryFor acquires a lock, and returns nil if there is no lease within d.
func tryFor(r *malformtest.Run, d time.Duration, lock locks.Lock) *locks.Lease {
	var lease *locks.Lease
	err := r.Bounded("Acquire", d, func(ctx context.Context) (err error) {
		lease, err = lock.Acquire(ctx)
		return err
	})
	if err != nil {
		return nil
	}
	return lease
}

// giveBack releases what tryFor returned.
func giveBack(r *malformtest.Run, leases ...*locks.Lease) {
	for _, lease := range leases {
		if lease != nil {
			_ = r.Bounded("Release", malformtest.ConnectTimeout, func(context.Context) error { return lease.Release() })
		}
	}
}

// takesAgain acquires a lock and releases it.
func takesAgain(lock func(c *framework.Client) locks.Lock) func(ctx context.Context, r *malformtest.Run) error {
	return func(ctx context.Context, r *malformtest.Run) error {
		lease, err := lock(r.Client).Acquire(ctx)
		if err == nil {
			giveBack(r, lease)
		}
		return err
	}
}

// takesOnce is a part in which the client acquires a lock and releases it.
func takesOnce(lock func(c *framework.Client) locks.Lock) func(r *malformtest.Run) {
	return func(r *malformtest.Run) {
		r.Arm()
		giveBack(r, tryFor(r, malformtest.SpoilTime, lock(r.Client)))
	}
}

// waitsBehind is a part in which the client waits behind another client's lock, which is disturbed, and released after
// half of the time. Frames are spoiled from the disturbance on, or from the beginning if there is none.
func waitsBehind(mine, theirs func(c *framework.Client) locks.Lock, disturb func(r *malformtest.Run)) func(r *malformtest.Run) {
	return func(r *malformtest.Run) {
		held := acquire(r.T, theirs(r.Honest))
		results := make(chan *locks.Lease, 1)
		if disturb == nil {
			r.Arm()
		}
		go func() { results <- tryFor(r, malformtest.SpoilTime, mine(r.Client)) }()
		time.Sleep(time.Second)
		if disturb != nil {
			r.Arm()
			disturb(r)
		}
		time.Sleep(malformtest.SpoilTime/2 - time.Second)
		select {
		case lease := <-results:
			if lease != nil {
				r.Bad(malformtest.OutcomeGrant, "%s beside %s", lease.NodeName(), held.NodeName())
			}
			giveBack(r, lease)
			release(r.T, held)
		default:
			release(r.T, held)
			giveBack(r, <-results)
		}
	}
}

// keeps is a part in which the client keeps a lock for longer than a session lasts without renewal.
func keeps(lock func(c *framework.Client) locks.Lock) func(r *malformtest.Run) {
	return func(r *malformtest.Run) {
		lease := acquire(r.T, lock(r.Client))
		r.Arm()
		time.Sleep(time.Second)
		stir(r)
		time.Sleep(malformtest.SpoilTime)
		giveBack(r, lease)
	}
}

// stir changes the nodes of all contenders, so that there are events and reads.
func stir(r *malformtest.Run) {
	for _, s := range r.Server.Sessions() {
		for _, node := range s.Ephemerals {
			if err := r.Server.SetData(node, []byte("changed")); err != nil {
				r.T.Error(err)
			}
		}
	}
}

// cut breaks all connections.
func cut(r *malformtest.Run) { r.Server.CutAll() }

func mutexOf(c *framework.Client) locks.Lock { return locks.NewInterProcessMutex(c, path) }

// mutexAlways is the part in which all frames of a kind are spoiled.
var mutexAlways = malformtest.Part{
	Name: "always", All: true, Live: waitsBehind(mutexOf, mutexOf, nil),
	Kinds: []string{
		malformtest.FrameCreate, malformtest.FrameListing, malformtest.FrameWatches, malformtest.FrameEvent,
		malformtest.FrameMulti, malformtest.FrameDelete, malformtest.FramePing,
	},
}

func mutexStory() *malformtest.Story {
	return &malformtest.Story{
		Whole:   true,
		Recover: takesAgain(mutexOf),
		Parts: []malformtest.Part{
			{Name: "connecting", Early: true, Live: takesOnce(mutexOf), Kinds: []string{malformtest.FrameHandshake}},
			{Name: "acquiring", Live: takesOnce(mutexOf), Kinds: []string{
				malformtest.FrameCreate, malformtest.FrameListing, malformtest.FrameDelete,
			}},
			{Name: "waiting", Live: waitsBehind(mutexOf, mutexOf, stir), Kinds: []string{
				malformtest.FrameGet, malformtest.FrameEvent,
			}},
			{Name: "reconnecting", Live: waitsBehind(mutexOf, mutexOf, cut), Kinds: []string{malformtest.FrameHandshake, malformtest.FrameGet}},
			{Name: "holding", Live: keeps(mutexOf), Kinds: []string{
				malformtest.FrameGet, malformtest.FrameMulti, malformtest.FramePing, malformtest.FrameEvent,
			}},
			mutexAlways,
		},
	}
}
