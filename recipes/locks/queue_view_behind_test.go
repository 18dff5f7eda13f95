package locks_test

import (
	"context"
	"net"
	"sync/atomic"
	"testing"
	"time"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/framework/zktest"
	"github.com/gocurator/curator/recipes/locks"
)

// What a waiter hears, and what it sees when it looks, may come from servers that are not equally far.

// calm counts how often a contender begins to wait, and lets the bubble's clock go on if it does nothing else.
func calm(rounds *atomic.Int64) locks.Option {
	return locks.WithTrace(locks.Trace{
		AcquireStart: func(ctx context.Context, _ locks.AcquireStart) context.Context { return calmContext{ctx, rounds} },
		Waiting:      func(context.Context, locks.Waiting) { rounds.Add(1) },
	})
}

// A calmContext takes a second for each look at it after many rounds.
type calmContext struct {
	context.Context
	rounds *atomic.Int64
}

func (c calmContext) Done() <-chan struct{} {
	if c.rounds.Load() > 100 {
		time.Sleep(time.Second)
	}
	return c.Context.Done()
}

// The follower that told of the writer's end goes; the next one is behind (before 3.9 an event does not tell its zxid,
// so it is not refused). Its listing still has the writer.
func TestAListingFromAServerThatIsBehindTheEvent(t *testing.T) {
	zktest.Bubble(t, func(t *testing.T) {
		ens := zktest.NewEnsemble(3, zktest.WithVersion("3.8"))
		defer ens.Close()
		var at atomic.Int64
		dial := func(ctx context.Context, network, _ string) (net.Conn, error) {
			return ens.DialContext(ctx, network, ens.Addrs()[at.Load()])
		}
		client := func() *framework.Client {
			c, err := framework.NewClient("zk:2181", framework.WithDialer(dial), framework.WithSessionTimeout(sessionTimeout))
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { _ = c.Close() })
			if err := c.BlockUntilConnected(t.Context()); err != nil {
				t.Fatal(err)
			}
			return c
		}
		holder := client() // at the leader
		at.Store(1)
		other := client()
		var rounds atomic.Int64
		held := acquire(t, locks.NewInterProcessReadWriteLock(holder, path).WriteLock())
		waiter := begin(t.Context(), t, locks.NewInterProcessReadWriteLock(other, path, calm(&rounds)).WriteLock())
		isWaiting(t, waiter)
		ens.SetLag(2, 2*time.Second)
		at.Store(2)
		ens.Server(1).DropReply(zktest.Match{Op: zktest.OpGetChildren2})
		release(t, held)
		r := soon(t, waiter)
		release(t, r.must(t))
		if n := rounds.Load(); n > 3 {
			t.Errorf("it began to wait %d times", n)
		}
	})
}

// An administrator deletes the holder's node, and puts it back.
func TestANodeThatWasPutBack(t *testing.T) {
	inBubble(t, func(t *testing.T, server *zktest.Server) {
		var rounds atomic.Int64
		held := acquire(t, locks.NewInterProcessReadWriteLock(newPeer(t, server).Client, path).WriteLock())
		waiter := begin(t.Context(), t, locks.NewInterProcessReadWriteLock(newPeer(t, server).Client, path, calm(&rounds)).WriteLock())
		node := path + "/" + held.NodeName()
		resume := server.Hold(zktest.Match{Op: zktest.OpGetChildren2})
		if err := server.Delete(node); err != nil {
			t.Fatal(err)
		}
		if err := server.Create(node, nil); err != nil {
			t.Fatal(err)
		}
		resume()
		time.Sleep(time.Second)
		if err := server.Delete(node); err != nil {
			t.Fatal(err)
		}
		ctx := soon(t, waiter)
		release(t, ctx.must(t))
		if n := rounds.Load(); n > 5 {
			t.Errorf("it began to wait %d times", n)
		}
	})
}
