package locks_test

import (
	"context"
	"errors"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/framework/zktest"
	"github.com/gocurator/curator/recipes/locks"
)

// In these tests a writer asks for the read lock as well, and something happens meanwhile. The request is one
// transaction: "check the writer's node; create the reader's".

// A downgrade is a writer, a second client's writer behind it, and the context with which the read lock is asked for.
// The context does not end with the write lease, as that of a caller who releases it too early would.
type downgrade struct {
	*peer
	rw    *locks.InterProcessReadWriteLock
	write *locks.Lease
	next  <-chan result
	ctx   context.Context
}

func beginDowngrade(t *testing.T, server *zktest.Server) *downgrade {
	t.Helper()
	d := &downgrade{peer: newPeer(t, server)}
	d.rw = readWrite(d.peer)
	d.write = acquire(t, d.rw.WriteLock())
	d.next = begin(t.Context(), t, readWrite(newPeer(t, server)).WriteLock())
	isWaiting(t, d.next)
	d.ctx = context.WithoutCancel(d.write.Context(t.Context()))
	settle()
	return d
}

// nested checks that the read lease stands for the only reader's node but for those of others, and has the writer's
// number.
func (d *downgrade) nested(t *testing.T, server *zktest.Server, read *locks.Lease, others int) {
	t.Helper()
	settle()
	readers := nodes(server, path, "__READ__")
	if !slices.Contains(readers, read.NodeName()) || len(readers) > 1+others {
		t.Errorf("there are %v for %s", readers, read.NodeName())
	}
	const digits = 10
	if w, r := d.write.NodeName(), read.NodeName(); w[len(w)-digits:] != r[len(r)-digits:] {
		t.Errorf("the reader of %s is %s", w, r)
	}
	if read.FencingToken() != d.write.FencingToken() {
		t.Errorf("its token is %d, the writer's %d", read.FencingToken(), d.write.FencingToken())
	}
	if read.Err() != nil {
		t.Errorf("it has ended: %v", read.Err())
	}
}

// over lets go of everything, and sees the next writer come in.
func (d *downgrade) over(t *testing.T, server *zktest.Server, leases ...*locks.Lease) {
	t.Helper()
	for _, lease := range leases {
		isWaiting(t, d.next)
		release(t, lease)
	}
	release(t, (<-d.next).must(t))
	wantNodes(t, server, path, "", 0)
}

// Curator: testDowngrading, testContendingDowngrading.
func TestWriterBecomesAReaderAndNobodyGetsInBetween(t *testing.T) {
	inBubble(t, func(t *testing.T, server *zktest.Server) {
		d := beginDowngrade(t, server)
		reader := begin(t.Context(), t, readWrite(newPeer(t, server)).ReadLock())
		read := acquireIn(d.ctx, t, d.rw.ReadLock())
		d.nested(t, server, read, 1)
		release(t, d.write)
		settle()
		isWaiting(t, d.next)
		isWaiting(t, reader) // it came after the next writer
		d.nested(t, server, read, 1)
		release(t, read)
		release(t, (<-d.next).must(t))
		release(t, (<-reader).must(t))
	})
}

func TestTheReaderMayLeaveBeforeTheWriter(t *testing.T) {
	inBubble(t, func(t *testing.T, server *zktest.Server) {
		d := beginDowngrade(t, server)
		read, err := d.rw.ReadLock().TryAcquire(d.ctx)
		must(t, err)
		d.over(t, server, read, d.write)
	})
}

func TestLostReplyOfADowngradeIsNoSecondNode(t *testing.T) {
	for name, fault := range map[string]func(*zktest.Server, zktest.Match){
		"reply": (*zktest.Server).DropReply, "request": (*zktest.Server).DropRequest,
	} {
		t.Run(name, func(t *testing.T) {
			inBubble(t, func(t *testing.T, server *zktest.Server) {
				d := beginDowngrade(t, server)
				for nth := range 3 {
					fault(server, zktest.Match{Op: zktest.OpMulti, Nth: nth + 1})
				}
				read := acquireIn(d.ctx, t, d.rw.ReadLock())
				d.nested(t, server, read, 0)
				d.over(t, server, d.write, read)
			})
		})
	}
}

func TestDowngradeWaitsOutAnOutage(t *testing.T) {
	inBubble(t, func(t *testing.T, server *zktest.Server) {
		d := beginDowngrade(t, server)
		d.link.Cut()
		synctest.Wait()
		read := begin(d.ctx, t, d.rw.ReadLock())
		time.Sleep(sessionTimeout / 4)
		isWaiting(t, read)
		d.link.Heal()
		lease := (<-read).must(t)
		d.nested(t, server, lease, 0)
		d.over(t, server, lease, d.write)
	})
}

// The writer leaves while the transaction is on its way: its node stays until the answer is there.
func TestWriterThatLeavesMeanwhileStaysUntilItIsAReader(t *testing.T) {
	inBubble(t, func(t *testing.T, server *zktest.Server) {
		d := beginDowngrade(t, server)
		goOn := server.HoldRequest(zktest.Match{Op: zktest.OpMulti})
		read := begin(d.ctx, t, d.rw.ReadLock())
		release(t, d.write)
		wantErr(t, d.write.Err(), locks.ErrReleased)
		settle()
		isWaiting(t, read)
		isWaiting(t, d.next)
		wantNodes(t, server, path, d.write.NodeName(), 1)
		goOn()
		lease := (<-read).must(t)
		d.nested(t, server, lease, 0)
		wantNodes(t, server, path, "__WRIT__", 1) // the next one's
		d.over(t, server, lease)
	})
}

// The same with the context of the write lease, which ends with it: the read lock is given up.
func TestDowngradeEndsWithTheContextOfTheWriteLease(t *testing.T) {
	inBubble(t, func(t *testing.T, server *zktest.Server) {
		d := beginDowngrade(t, server)
		goOn := server.HoldRequest(zktest.Match{Op: zktest.OpMulti})
		read := begin(d.write.Context(t.Context()), t, d.rw.ReadLock())
		release(t, d.write)
		wantErr(t, (<-read).err, locks.ErrReleased)
		goOn()
		d.over(t, server)
	})
}

// The caller gives up, and the writer has left: no call waits for the server, although it does not answer.
func TestCancelledDowngradeReturnsAtOnceAndLeavesNothing(t *testing.T) {
	inBubble(t, func(t *testing.T, server *zktest.Server) {
		d := beginDowngrade(t, server)
		goOn := server.HoldRequest(zktest.Match{Op: zktest.OpMulti})
		ctx, cancel := context.WithCancel(d.ctx)
		read := begin(ctx, t, d.rw.ReadLock())
		release(t, d.write)
		begun := time.Now()
		cancel()
		r := <-read
		wantErr(t, r.err, context.Canceled)
		if took := r.at.Sub(begun); took > 0 {
			t.Errorf("it took %v", took)
		}
		goOn()
		d.over(t, server)
	})
}

func TestCancelledDowngradeLeavesTheWriterWhereItIs(t *testing.T) {
	inBubble(t, func(t *testing.T, server *zktest.Server) {
		d := beginDowngrade(t, server)
		goOn := server.HoldRequest(zktest.Match{Op: zktest.OpMulti})
		ctx, cancel := context.WithTimeout(d.ctx, time.Second)
		defer cancel()
		_, err := d.rw.ReadLock().Acquire(ctx)
		wantErr(t, err, context.DeadlineExceeded)
		goOn()
		wantNodes(t, server, path, "__READ__", 0)
		if d.write.Err() != nil {
			t.Errorf("the write lease has ended: %v", d.write.Err())
		}
		d.over(t, server, d.write)
	})
}

// An administrator removes the writer's node while the transaction is on its way to the server.
func TestDowngradeOfAWriterThatWasRemovedIsRefused(t *testing.T) {
	inBubble(t, func(t *testing.T, server *zktest.Server) {
		d := beginDowngrade(t, server)
		d.cable.SetLatency(time.Second)
		read := begin(d.ctx, t, d.rw.ReadLock())
		must(t, server.Delete(path+"/"+d.write.NodeName()))
		r := <-read
		wantErr(t, r.err, locks.ErrLeaseLost, locks.ErrRemoved)
		wantErr(t, d.write.Err(), locks.ErrLeaseLost, locks.ErrRemoved)
		d.over(t, server)
	})
}

// The same before the writer's node is watched: the transaction is the first to find out.
func TestDowngradeFindsOutThatTheWriterWasRemoved(t *testing.T) {
	inBubble(t, func(t *testing.T, server *zktest.Server) {
		rw := readWrite(newPeer(t, server))
		write := acquire(t, rw.WriteLock())
		must(t, server.Delete(path+"/"+write.NodeName()))
		_, err := rw.ReadLock().Acquire(inside(t, write))
		wantErr(t, err, locks.ErrLeaseLost, locks.ErrRemoved)
		wantErr(t, write.Err(), locks.ErrLeaseLost, locks.ErrRemoved)
		wantNodes(t, server, path, "", 0)
	})
}

// The transaction was executed, its answer is lost, and then the writer's node is removed by hand: the repetition does
// not find it. The reader's node of the first try goes again.
func TestDowngradeWhoseAnswerIsLostAndWhoseWriterIsRemovedLeavesNothing(t *testing.T) {
	inBubble(t, func(t *testing.T, server *zktest.Server) {
		d := beginDowngrade(t, server)
		server.DropReply(zktest.Match{Op: zktest.OpMulti})
		stop := server.Observe(func(r zktest.Request) {
			if r.Op == zktest.OpMulti {
				d.link.Cut()
			}
		})
		read := begin(d.ctx, t, d.rw.ReadLock())
		stop()
		wantNodes(t, server, path, "__READ__", 1)
		must(t, server.Delete(path+"/"+d.write.NodeName()))
		settle()
		isWaiting(t, d.next) // behind the reader
		d.link.Heal()
		wantErr(t, (<-read).err, locks.ErrLeaseLost)
		d.over(t, server)
	})
}

// The session lapses while the transaction is on its way; it lives on, but the writer does not.
func TestDowngradeOfAWriterThatLapsedIsRefused(t *testing.T) {
	for _, executed := range []bool{false, true} {
		inBubble(t, func(t *testing.T, server *zktest.Server) {
			d := beginDowngrade(t, server)
			if executed {
				server.DropReply(zktest.Match{Op: zktest.OpMulti})
				defer server.Observe(func(r zktest.Request) {
					if r.Op == zktest.OpMulti {
						d.link.Cut()
					}
				})()
			} else {
				d.link.Cut()
				synctest.Wait()
			}
			read := begin(d.ctx, t, d.rw.ReadLock())
			<-d.write.Done()
			wantErr(t, d.write.Err(), locks.ErrLeaseLost)
			d.link.Heal() // just before the session would be over
			wantErr(t, (<-read).err, locks.ErrLeaseLost)
			d.over(t, server)
		})
	}
}

func TestDowngradeOfAWriterWhoseSessionIsOverIsRefused(t *testing.T) {
	inBubble(t, func(t *testing.T, server *zktest.Server) {
		d := beginDowngrade(t, server)
		d.link.Cut()
		synctest.Wait()
		read := begin(d.ctx, t, d.rw.ReadLock())
		time.Sleep(3 * sessionTimeout)
		wantErr(t, (<-read).err, locks.ErrLeaseLost)
		_, err := d.rw.ReadLock().Acquire(d.ctx)
		wantErr(t, err, locks.ErrLeaseLost)
		d.link.Heal()
		d.over(t, server)
	})
}

func TestDowngradeEndsWithTheClient(t *testing.T) {
	inBubble(t, func(t *testing.T, server *zktest.Server) {
		d := beginDowngrade(t, server)
		goOn := server.HoldRequest(zktest.Match{Op: zktest.OpMulti})
		read := begin(d.ctx, t, d.rw.ReadLock())
		closed := make(chan error, 1)
		go func() { closed <- d.Close() }()
		synctest.Wait()
		wantErr(t, d.write.Err(), locks.ErrLeaseLost, framework.ErrClosed)
		goOn()
		wantErr(t, (<-read).err, locks.ErrLeaseLost, framework.ErrClosed)
		wantErr(t, <-closed)
		d.over(t, server)
	})
}

// Goroutines that share the writer's context become readers together, each with a node.
func TestWriterBecomesSeveralReaders(t *testing.T) {
	inBubble(t, func(t *testing.T, server *zktest.Server) {
		d := beginDowngrade(t, server)
		var pending []<-chan result
		for range 5 {
			pending = append(pending, begin(d.ctx, t, d.rw.ReadLock()))
		}
		leases := []*locks.Lease{d.write}
		for _, p := range pending {
			leases = append(leases, (<-p).must(t))
		}
		wantNodes(t, server, path, "__READ__", 5)
		d.over(t, server, leases...)
	})
}

// A waiter behind a writer that becomes a reader: it wakes when the writer's node goes, and waits on for the reader's.
func TestNextWriterWaitsForTheReaderThatTheWriterBecame(t *testing.T) {
	inBubble(t, func(t *testing.T, server *zktest.Server) {
		d := beginDowngrade(t, server)
		read := acquireIn(d.ctx, t, d.rw.ReadLock())
		release(t, d.write)
		for range 3 {
			settle()
			isWaiting(t, d.next)
			again := acquireIn(context.WithoutCancel(read.Context(t.Context())), t, d.rw.ReadLock())
			release(t, read) // the node is that of both
			read = again
		}
		d.over(t, server, read)
	})
}

func TestDowngradeCountsOnlyOnTheSameLock(t *testing.T) {
	inBubble(t, func(t *testing.T, server *zktest.Server) {
		d := beginDowngrade(t, server)
		elsewhere := locks.NewInterProcessReadWriteLock(d.Client, "/locks/other")
		release(t, acquireIn(d.ctx, t, elsewhere.ReadLock()))
		other := readWrite(newPeer(t, server)) // the same path, but another client
		_, err := other.ReadLock().TryAcquire(d.ctx)
		wantErr(t, err, locks.ErrNotAcquired)
		if mutex := locks.NewInterProcessMutex(d.Client, path); mutex.IsOwnedBy(d.ctx) {
			t.Error("got a context that owns the mutex at the path, want it to own the read/write lock alone")
		}
		if errors.Is(err, locks.ErrUpgrade) {
			t.Error(err)
		}
	})
}
