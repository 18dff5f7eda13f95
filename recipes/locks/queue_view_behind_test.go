package locks_test

import (
	"context"
	"errors"
	"io"
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

// The follower that reported the writer's end goes, and the next one is behind. It is not refused, since before 3.9 an
// event has no zxid. Its listing still has the writer.
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
			must(t, err)
			t.Cleanup(func() { _ = c.Close() })
			must(t, c.BlockUntilConnected(t.Context()))
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
		resume := server.HoldRequest(zktest.Match{Op: zktest.OpGetChildren2})
		must(t, server.Delete(node))
		must(t, server.Create(node, nil))
		resume()
		time.Sleep(time.Second)
		must(t, server.Delete(node))
		ctx := soon(t, waiter)
		release(t, ctx.must(t))
		if n := rounds.Load(); n > 5 {
			t.Errorf("it began to wait %d times", n)
		}
	})
}

// A writer becomes a reader: its reader's node is created, its own is deleted. The next writer hears of the deletion
// and lists the queue. That listing is its connection's last answer, so nothing has proven its zxid, which is given up:
// after sixteen refusals by a server that is behind, or with a connection that ends with garbage. The server that takes
// the session then has neither the reader's node nor the deletion, and says that the reader's node is missing.
func TestAWriterIsNotLetInByAServerThatLacksTheReaderAheadOfIt(t *testing.T) {
	for name, garbage := range map[string]bool{"sixteen refusals": false, "garbage": true} {
		t.Run(name, func(t *testing.T) {
			zktest.Bubble(t, func(t *testing.T) { waitBehindAMissingReader(t, garbage) })
		})
	}
}

func waitBehindAMissingReader(t *testing.T, garbage bool) {
	ens := zktest.NewEnsemble(3, zktest.WithVersion("3.8"))
	defer ens.Close()
	client := func(at *atomic.Int64) *framework.Client {
		dial := func(ctx context.Context, network, _ string) (net.Conn, error) {
			conn, err := ens.DialContext(ctx, network, ens.Addrs()[at.Load()])
			if garbage && at.Load() == 1 && err == nil {
				conn = garbler{conn}
			}
			return conn, err
		}
		c, err := framework.NewClient("zk:2181", framework.WithDialer(dial), framework.WithSessionTimeout(time.Minute))
		must(t, err)
		t.Cleanup(func() { _ = c.Close() })
		must(t, c.BlockUntilConnected(t.Context()))
		return c
	}
	var atLeader, at atomic.Int64
	holder := locks.NewInterProcessReadWriteLock(client(&atLeader), path)
	at.Store(1)
	other := locks.NewInterProcessReadWriteLock(client(&at), path)
	write := acquire(t, holder.WriteLock())
	waiter := begin(t.Context(), t, other.WriteLock())
	isWaiting(t, waiter)
	time.Sleep(time.Second)
	ens.SetLag(2, 20*time.Second)
	at.Store(2)
	ens.Server(1).DropReply(zktest.Match{Op: zktest.OpGetData}) // the watch on the reader's node
	read := acquireIn(write.Context(t.Context()), t, holder.ReadLock())
	release(t, write)
	select {
	case r := <-waiter:
		t.Fatalf("the next writer: got %v, want it to wait: the reader holds (%v)", r.err, read.Err())
	case <-time.After(40 * time.Second): // longer than the server is behind
	}
	ens.SetLag(2, 0)
	release(t, read)
	release(t, soon(t, waiter).must(t))
}

// A garbler ends with garbage.
type garbler struct{ net.Conn }

func (g garbler) Read(p []byte) (int, error) {
	n, err := g.Conn.Read(p)
	if n == 0 && errors.Is(err, io.EOF) && len(p) > 4 {
		return copy(p, "\xff\xff\xff\xff"), nil
	}
	return n, err
}
