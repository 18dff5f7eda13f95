package locks_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-zookeeper/zk"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/framework/zktest"
	"github.com/gocurator/curator/recipes/locks"
	"github.com/gocurator/curator/recipes/locks/lockstest"
)

// The rules of package queue, one by one. Each test fails if its rule is dropped, and says in its
// comment what that would be.

// Rule 1, the session: the answer that would admit comes when the session is no longer known to be valid. It fails if
// the grant is published without the check of the session.
func TestRule1NoLeaseIsGivenAfterTheSessionHasLapsed(t *testing.T) {
	inBubble(t, func(t *testing.T, server *zktest.Server) {
		p := newPeer(t, server)
		release(t, acquire(t, p.mutex()))
		for _, ms := range []int{7000, 9000, 9700, 9950, 9990} {
			delay := time.Duration(ms) * time.Millisecond
			p.link.DelayReply(lockstest.GetChildren, delay)
			lease := acquire(t, p.mutex())
			if now, until := time.Now(), lease.ValidUntil(); !now.Before(until) {
				t.Errorf("answered after %v: a lease was given at %v that is valid until %v", delay, now, until)
			}
			wantErr(t, lease.Err())
			_ = lease.Release()
		}
	})
}

// Rule 1, the order: a waiter's own node and the one ahead go in this order, before the waiter looks. It fails if the
// deletion of the node ahead is taken for an admission without a look at the own node.
func TestRule1TheWaitersOwnNodeIsLookedAtFirst(t *testing.T) {
	inBubble(t, func(t *testing.T, server *zktest.Server) {
		held := acquire(t, newPeer(t, server).mutex())
		p := newPeer(t, server)
		waiter := begin(t.Context(), t, p.mutex())
		own := otherChild(server, held.NodeName())
		p.cable.SetLatency(oneWay)
		must(t, errors.Join(server.Delete(path+"/"+own), server.Delete(path+"/"+held.NodeName())))
		lease := soon(t, waiter).must(t)
		if lease.NodeName() == own || !server.Exists(path+"/"+lease.NodeName()) {
			t.Errorf("it was let in on %s, which was removed", lease.NodeName())
		}
	})
}

func otherChild(server *zktest.Server, name string) string {
	for _, child := range server.Children(path) {
		if child != name {
			return child
		}
	}
	return ""
}

// Rule 2: between the creation and the listing in the same segment an administrator removes the node. It fails if a
// listing decides that does not contain the contender's node.
func TestRule2AListingWithoutTheOwnNodeAdmitsNobody(t *testing.T) {
	inBubble(t, func(t *testing.T, server *zktest.Server) {
		p := newPeer(t, server)
		release(t, acquire(t, p.mutex()))
		resume := server.HoldRequest(zktest.Match{Op: zktest.OpGetChildren2})
		results := begin(t.Context(), t, p.mutex())
		removed := otherChild(server, "")
		must(t, server.Delete(path+"/"+removed))
		resume()
		lease := soon(t, results).must(t)
		if lease.NodeName() == removed || !server.Exists(path+"/"+lease.NodeName()) {
			t.Errorf("it was let in on %s, which was removed", lease.NodeName())
		}
		if n := len(server.Children(path)); n != 1 {
			t.Errorf("there are %d nodes", n)
		}
	})
}

// Rule 3: the node ahead vanishes, but one before it is there. It fails if the event alone admits.
func TestRule3AnEventAloneAdmitsNobody(t *testing.T) {
	inBubble(t, func(t *testing.T, server *zktest.Server) {
		held := acquire(t, newPeer(t, server).mutex())
		second := begin(t.Context(), t, newPeer(t, server).mutex())
		middle := otherChild(server, held.NodeName())
		third := begin(t.Context(), t, newPeer(t, server).mutex())
		must(t, server.Delete(path+"/"+middle))
		isWaiting(t, third)
		isWaiting(t, second)
		release(t, held)
		release(t, soon(t, third).must(t))
		release(t, soon(t, second).must(t))
	})
}

// Rule 3, readers: what vanishes is the nearest writer; another stands before it.
func TestRule3AReaderLooksForEarlierWriters(t *testing.T) {
	inBubble(t, func(t *testing.T, server *zktest.Server) {
		held := acquire(t, locks.NewInterProcessReadWriteLock(newPeer(t, server).Client, path).WriteLock())
		second := begin(t.Context(), t, locks.NewInterProcessReadWriteLock(newPeer(t, server).Client, path).WriteLock())
		middle := otherChild(server, held.NodeName())
		reader := begin(t.Context(), t, locks.NewInterProcessReadWriteLock(newPeer(t, server).Client, path).ReadLock())
		must(t, server.Delete(path+"/"+middle))
		isWaiting(t, reader)
		release(t, held)
		release(t, soon(t, reader).must(t))
		release(t, soon(t, second).must(t))
	})
}

// Rule 4: while waiting. It fails if a waiter watches only the node ahead.
func TestRule4AWaiterHearsOfTheRemovalOfItsOwnNode(t *testing.T) {
	inBubble(t, func(t *testing.T, server *zktest.Server) {
		held := acquire(t, newPeer(t, server).mutex())
		waiter := begin(t.Context(), t, newPeer(t, server).mutex())
		own := otherChild(server, held.NodeName())
		must(t, server.Delete(path+"/"+own))
		isWaiting(t, waiter)
		if now := otherChild(server, held.NodeName()); now == "" || now == own {
			t.Errorf("it does not queue again, there are %v", server.Children(path))
		}
		release(t, held)
		release(t, soon(t, waiter).must(t))
	})
}

// Rule 4: a change of data is no deletion, and disarms the watch. It fails if the watch is not set again after a
// change.
func TestRule4ARemovalAfterAChangeIsHeard(t *testing.T) {
	inBubble(t, func(t *testing.T, server *zktest.Server) {
		p := newPeer(t, server)
		lease := acquire(t, p.mutex())
		time.Sleep(time.Second)
		node := path + "/" + lease.NodeName()
		for range 3 {
			must(t, server.SetData(node, []byte("changed")))
			synctest.Wait()
			must(t, lease.Err())
		}
		must(t, server.Delete(node))
		synctest.Wait()
		wantErr(t, lease.Err(), locks.ErrRemoved)
	})
}

// Rule 4: nodes that a peer may not read; newer servers do not even say whether they are there. It fails if a waiter
// can wait only for what it can read.
func TestRule4ANodeThatMayNotBeReadIsWaitedForAllTheSame(t *testing.T) {
	for _, version := range []string{"3.8.3", "3.9.5"} {
		inBubble(t, func(t *testing.T, server *zktest.Server) {
			must(t, errors.Join(server.Create("/locks", nil), server.Create(path, nil)))
			secret := framework.WithACLProvider(func(string) []zk.ACL { return zk.DigestACL(zk.PermAll, "a", "b") })
			held := acquire(t, newPeer(t, server, secret).mutex()) // not even its owner may read it
			waiter := begin(t.Context(), t, newPeer(t, server).mutex())
			isWaiting(t, waiter)
			release(t, held)
			release(t, soon(t, waiter).must(t))
		}, zktest.WithVersion(version))
	}
}

// Servers since 3.8.4 and 3.9.2 report the end of a node only to clients that may read it. An administrator who takes
// that right away under a waiter keeps the news from it. It looks again, by way of the directory, when its wait has
// lasted a session timeout, or on its next connection.
func TestRule4AnACLThatChangesUnderAWaiterIsSeenAfterASessionTimeout(t *testing.T) {
	inBubble(t, func(t *testing.T, server *zktest.Server) {
		holder, p := newPeer(t, server), newPeer(t, server)
		held := acquire(t, holder.mutex())
		waiter := begin(t.Context(), t, p.mutex())
		node := path + "/" + held.NodeName()
		if _, err := holder.SetACL(t.Context(), node, zk.DigestACL(zk.PermAll, "a", "b"), -1); err != nil {
			t.Fatal(err)
		}
		release(t, held)
		time.Sleep(sessionTimeout / 2)
		isWaiting(t, waiter)
		began := time.Now()
		release(t, soon(t, waiter).must(t))
		if waited := time.Since(began); waited > sessionTimeout*3/4 {
			t.Errorf("it waited for %v, want at most %v", waited, sessionTimeout*3/4)
		}
	})
}

// No event reports to a holder what it may not read, not even about its own node. A check in a transaction, which the
// server decides, does.
func TestRule4AHolderThatMayNotReadItsNodeDoesNotHearOfItsRemoval(t *testing.T) {
	inBubble(t, func(t *testing.T, server *zktest.Server) {
		secret := framework.WithACLProvider(func(string) []zk.ACL { return zk.DigestACL(zk.PermAll, "a", "b") })
		must(t, errors.Join(server.Create("/locks", nil), server.Create(path, nil)))
		p := newPeer(t, server, secret)
		held := acquire(t, p.mutex())
		settle()
		remove(t, server, path+"/"+held.NodeName())
		time.Sleep(2 * sessionTimeout)
		wantErr(t, held.Err())
		_, err := p.Transaction(t.Context(), held.Check(), framework.SetOp(path, nil, -1))
		wantErr(t, err, zk.ErrNoNode)
	})
}

// Rule 5: the node ahead goes while the waiter is not connected. It fails if watches are not set again.
func TestRule5WatchesAreSetAgainAfterAReconnection(t *testing.T) {
	inBubble(t, func(t *testing.T, server *zktest.Server) {
		held := acquire(t, newPeer(t, server).mutex())
		p := newPeer(t, server)
		waiter := begin(t.Context(), t, p.mutex())
		p.link.Reset()
		time.Sleep(time.Second)
		isWaiting(t, waiter)
		if n := server.Watches(path + "/" + held.NodeName()); n != 2 {
			t.Errorf("the node ahead has %d watches, want the waiter's and its owner's", n)
		}
		p.link.Cut()
		release(t, held)
		p.link.Heal()
		release(t, soon(t, waiter).must(t))
	})
}

// Rule 6: an acquire while a release of the same client is on its way does not wait for it. It fails if a removal is
// sent later than what is asked for after it.
func TestRule6AReleaseIsOnItsWayBeforeTheNextAcquire(t *testing.T) {
	inBubble(t, func(t *testing.T, server *zktest.Server) {
		p := warm(t, server)
		held := acquire(t, p.mutex())
		go func() { _ = held.Release() }()
		synctest.Wait()
		if n := elapsed(t, func() { acquire(t, p.mutex()) }); n != 1 {
			t.Errorf("the next acquire took %d round trips", n)
		}
	})
}

// Rule 6: the same after a reconnection. It fails if removals that were left undone are not the first thing to be sent.
func TestRule6AReleaseIsMadeUpForBeforeTheNextAcquire(t *testing.T) {
	inBubble(t, func(t *testing.T, server *zktest.Server) {
		p := newPeer(t, server, framework.WithConnectionTimeout(time.Second))
		held := acquire(t, p.mutex())
		p.link.Cut()
		if err := held.Release(); err == nil {
			t.Error("got no error of a release without a connection, want one")
		}
		p.link.Segments()
		next := begin(t.Context(), t, locks.NewInterProcessMutex(p.Client, path, locks.WithTrace(locks.Trace{
			Waiting: func(_ context.Context, w locks.Waiting) { t.Errorf("the next acquire waits: %+v", w) },
		})))
		p.link.Heal()
		soon(t, next).must(t)
		if sent := p.link.Segments(); len(sent) == 0 || sent[0][0] != lockstest.Delete {
			t.Errorf("it sent %v, want the deletion first", sent)
		}
	})
}

// Rule 6: a writer's contender looks at a listing from before a downgrade when the writer has gone. It fails if a node
// that is no longer there is left out of a listing.
func TestRule6AListingIsTakenAsItIs(t *testing.T) {
	inBubble(t, func(t *testing.T, server *zktest.Server) {
		owner, other := newPeer(t, server), newPeer(t, server)
		lock := locks.NewInterProcessReadWriteLock(owner.Client, path)
		write := acquire(t, lock.WriteLock())
		other.link.DelayReply(lockstest.GetChildren, time.Second)
		contender := begin(t.Context(), t, locks.NewInterProcessReadWriteLock(other.Client, path).WriteLock())
		read := acquireIn(write.Context(t.Context()), t, lock.ReadLock())
		release(t, write)
		time.Sleep(2 * time.Second)
		isWaiting(t, contender)
		release(t, read)
		soon(t, contender).must(t)
	})
}

// Rule 6: it fails if a released lease still makes a check.
func TestRule6AReleasedLeaseGuardsNoTransaction(t *testing.T) {
	inBubble(t, func(t *testing.T, server *zktest.Server) {
		must(t, server.Create("/guarded", nil))
		p := newPeer(t, server)
		lease := acquire(t, p.mutex())
		resume := server.HoldRequest(zktest.Match{Op: zktest.OpDelete}) // the node is still there
		defer resume()
		go func() { _ = lease.Release() }()
		synctest.Wait()
		other := newPeer(t, server)
		_, err := other.Transaction(t.Context(), lease.Check(), framework.SetOp("/guarded", []byte("x"), -1))
		if !errors.Is(err, locks.ErrReleased) {
			t.Errorf("got %v", err)
		}
		if stat, _ := server.Stat("/guarded"); stat.Version != 0 {
			t.Errorf("got version %d of the guarded node, want 0: not written", stat.Version)
		}
	})
}

// Rule 7: many watch the same node through one client. It fails if each asks for itself.
func TestRule7OneWatchForEachNode(t *testing.T) {
	inBubble(t, func(t *testing.T, server *zktest.Server) {
		p := newPeer(t, server)
		held := acquire(t, p.mutex())
		time.Sleep(time.Second)
		p.link.Requests()
		const waiters = 5
		var line []<-chan result
		for range waiters {
			line = append(line, begin(t.Context(), t, p.mutex()))
		}
		if n := p.link.Requests()[lockstest.SetWatches]; n != waiters {
			t.Errorf("%d waiters sent %d requests that set watches, want one for each of their nodes", waiters, n)
		}
		if n := server.WatchCount(); n != waiters+1 {
			t.Errorf("the server has %d watches", n)
		}
		release(t, held)
		for _, waiter := range line {
			release(t, soon(t, waiter).must(t))
		}
	})
}

// Rule 7: one subscriber leaves, others stay. It fails if the server's watch is taken off with the first.
func TestRule7TheLastToLeaveTakesTheWatchOff(t *testing.T) {
	inBubble(t, func(t *testing.T, server *zktest.Server) {
		held := acquire(t, newPeer(t, server).mutex())
		time.Sleep(time.Second)
		p := newPeer(t, server)
		reader := func() *locks.ReadLock { return locks.NewInterProcessReadWriteLock(p.Client, path).ReadLock() }
		ctx, cancel := context.WithCancel(t.Context())
		quitter := begin(ctx, t, reader())
		waiter := begin(t.Context(), t, reader()) // behind the same node
		cancel()
		if r := soon(t, quitter); !errors.Is(r.err, context.Canceled) {
			t.Errorf("got %v", r.err)
		}
		isWaiting(t, waiter)
		if n := server.Watches(path + "/" + held.NodeName()); n != 2 {
			t.Errorf("the node ahead has %d watches, want the waiter's and its owner's", n)
		}
		release(t, held)
		release(t, soon(t, waiter).must(t))
	})
}

// Rule 7: a watch is taken off and set again, at every distance in time. It fails if the two can leave in the other
// order.
func TestRule7AWatchThatIsSetAgainAtOnceStays(t *testing.T) {
	inBubble(t, func(t *testing.T, server *zktest.Server) {
		held := acquire(t, newPeer(t, server).mutex())
		time.Sleep(time.Second)
		p := newPeer(t, server)
		p.cable.SetLatency(oneWay)
		wait := func() (context.CancelFunc, <-chan result) {
			ctx, cancel := context.WithCancel(t.Context())
			lock := locks.NewInterProcessReadWriteLock(p.Client, path).ReadLock() // all wait for the same node
			return cancel, begin(ctx, t, lock)
		}
		cancel, waiter := wait()
		for apart := time.Duration(0); apart < 4*oneWay; apart += time.Millisecond {
			nextCancel, next := wait()
			time.Sleep(apart)
			cancel()
			soon(t, waiter)
			time.Sleep(3 * roundTrip)
			if n := server.Watches(path + "/" + held.NodeName()); n != 2 {
				t.Fatalf("%d ms apart: the node ahead has %d watches, want the waiter's and its owner's", apart, n)
			}
			cancel, waiter = nextCancel, next
		}
		release(t, held)
		release(t, soon(t, waiter).must(t))
		cancel()
	})
}
