package locks_test

import (
	"context"
	"time"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/recipes/internal/malformtest"
	"github.com/gocurator/curator/recipes/locks"
)

func readerOf(c *framework.Client) locks.Lock {
	return locks.NewInterProcessReadWriteLock(c, path).ReadLock()
}

func writerOf(c *framework.Client) locks.Lock {
	return locks.NewInterProcessReadWriteLock(c, path).WriteLock()
}

// readWriteStory is a client that reads behind a writer, writes behind a reader, and becomes a reader as a writer.
func readWriteStory() *malformtest.Story {
	return &malformtest.Story{
		Recover: takesAgain(writerOf),
		Parts: malformtest.ForLong(
			malformtest.Part{Name: "reading", Live: waitsBehind(readerOf, writerOf, stir), Kinds: []string{
				malformtest.FrameGet, malformtest.FrameEvent,
			}},
			malformtest.Part{Name: "writing", Live: waitsBehind(writerOf, readerOf, stir), Kinds: []string{
				malformtest.FrameGet, malformtest.FrameEvent,
			}},
			malformtest.Part{Name: "downgrading", Live: downgrades, Kinds: []string{
				malformtest.FrameMulti, malformtest.FrameDelete, malformtest.FrameGet,
			}},
		),
	}
}

// downgrades has the client become a reader while another writer waits.
func downgrades(r *malformtest.Run) {
	var o malformtest.Occupancy
	written := acquire(r.T, writerOf(r.Client))
	o.Enter(r, "the client", written)
	done := make(chan struct{})
	go func() {
		defer close(done)
		if lease := tryFor(r, malformtest.SpoilTime, writerOf(r.Honest)); lease != nil {
			o.Enter(r, "another writer", lease)
			time.Sleep(time.Second)
			giveBack(r, lease)
		}
	}()
	time.Sleep(100 * time.Millisecond)
	r.Arm()
	within := ownedBy{readerOf(r.Client), written}
	read := tryFor(r, malformtest.SpoilTime/4, within)
	if read != nil {
		o.Enter(r, "the client", read)
	}
	giveBack(r, written)
	if read != nil {
		time.Sleep(time.Second)
		giveBack(r, read)
	}
	<-done
}

// An ownedBy is a lock that the owner of a lease acquires.
type ownedBy struct {
	locks.Lock
	lease *locks.Lease
}

func (l ownedBy) Acquire(ctx context.Context) (*locks.Lease, error) {
	return l.Lock.Acquire(l.lease.Context(ctx))
}
