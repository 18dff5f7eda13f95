package locks_test

import (
	"slices"
	"time"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/recipes/internal/malformtest"
)

// renewalStory is a client that holds a lock for longer than its session lasts without renewal, while another waits.
func renewalStory() *malformtest.Story {
	return &malformtest.Story{
		Recover: takesAgain(mutexOf),
		Parts: []malformtest.Part{
			{Name: "by writes", Live: renews, Kinds: []string{malformtest.FrameMulti, malformtest.FramePing}},
			{Name: "by syncs", Client: []framework.Option{framework.WithSyncRenewal()}, Live: renews, Kinds: []string{malformtest.FrameSync}},
			{Name: "by no write", All: true, Live: lapses, Only: isNoAnswer, Kinds: []string{malformtest.FrameMulti}},
		},
	}
}

// isNoAnswer reports whether nothing of a frame can be taken for an answer, whatever the frame is.
func isNoAnswer(m malformtest.Malformation) bool {
	return slices.Contains([]string{
		"never", "empty", "header alone", "cut in half", "one byte more", "text", "length is -1", "length is 3", "xid is 0", "code is 1",
	}, m.Name)
}

// renews keeps the lock while another client waits for it.
func renews(r *malformtest.Run) {
	var o malformtest.Occupancy
	lease := acquire(r.T, mutexOf(r.Client))
	o.Enter(r, "the client", lease)
	done := make(chan struct{})
	go func() {
		defer close(done)
		if other := tryFor(r, 2*malformtest.SpoilTime, mutexOf(r.Honest)); other != nil {
			o.Enter(r, "another client", other)
			giveBack(r, other)
		}
	}()
	r.Arm()
	time.Sleep(malformtest.SpoilTime)
	giveBack(r, lease)
	<-done
}

// lapses keeps the lock while no renewal is answered. The lease must have ended by its own clock.
func lapses(r *malformtest.Run) {
	lease := acquire(r.T, mutexOf(r.Client))
	r.Arm()
	time.Sleep(malformtest.SpoilTime - time.Second)
	if lease.Err() == nil {
		r.Bad(malformtest.OutcomeGrant, "the lease is valid although no renewal was answered for %v", malformtest.SpoilTime-time.Second)
	}
	giveBack(r, lease)
}
