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
)

// holds takes a lock n times, with pauses for which its node is kept, and returns the last lease.
func holds(t *testing.T, lock locks.Lock, n int) (last *locks.Lease) {
	t.Helper()
	for range n {
		time.Sleep(idle / 2)
		last = acquire(t, lock)
		release(t, last)
	}
	return last
}

// asked counts what a server is asked while f runs.
func asked(server *zktest.Server, f func()) map[zktest.Op]int {
	before := server.Counts()
	f()
	sent := map[zktest.Op]int{}
	for op, n := range server.Counts() {
		if n -= before[op]; n > 0 {
			sent[op] = n
		}
	}
	return sent
}

// A client that takes the lock again and again keeps its node, and asks for no more than one that holds a lock, but for
// a listing in each session timeout. No hold waits for that.
func TestLoneClientKeepsItsNodeForTenMinutes(t *testing.T) {
	inRetainedBubble(t, func(t *testing.T, server *zktest.Server) {
		const span, pause = 10 * time.Minute, idle / 2
		const n, timeouts = int(span / pause), int(span / sessionTimeout)
		p := newPeer(t, server)
		p.cable.SetLatency(oneWay)
		held := acquire(t, p.mutex())
		time.Sleep(time.Second) // its node is watched
		want := asked(server, func() { time.Sleep(span) })
		want[zktest.OpGetChildren2] = timeouts
		release(t, held)
		lock, _ := idling(t, p)
		first := holds(t, lock, 20)
		last, begun := first, time.Now()
		sent := asked(server, func() { last = holds(t, lock, n) })
		if got := last.FencingCount() - first.FencingCount(); got != int64(n) || last.NodeName() != first.NodeName() {
			t.Errorf("got the last of %d holds %d holds after the first, of nodes %s and %s, want one node",
				n, got, first.NodeName(), last.NodeName())
		}
		if waited := time.Since(begun) - span; waited > 0 {
			t.Errorf("%d holds waited for %v, want none to wait", n, waited)
		}
		for op, got := range sent {
			if got > want[op] {
				t.Errorf("%d holds asked for %v %d times, want at most %d", n, op, got, want[op])
			}
		}
	})
}

// deaf takes the permission to read a directory away from all but its contender, and returns what gives it back.
// Meanwhile servers send the others no events of it.
func deaf(t *testing.T, contender *peer, dir string) (hears func()) {
	t.Helper()
	set := func(acl []zk.ACL) {
		if _, err := contender.SetACL(t.Context(), dir, acl, -1); err != nil {
			t.Fatal(err)
		}
	}
	set(append(zk.WorldACL(zk.PermAll&^zk.PermRead), zk.DigestACL(zk.PermRead, "contender", "secret")...))
	return func() { set(zk.WorldACL(zk.PermAll)) }
}

func newContender(t *testing.T, server *zktest.Server) *peer {
	t.Helper()
	return newPeer(t, server, framework.WithAuthorization("digest", []byte("contender:secret")))
}

// A listing without others is believed for the session timeout. Then the directory is listed again, whether its node
// is taken again and again, or idle.
func TestContenderWhoseEventIsLostWaitsForTheNextListing(t *testing.T) {
	for name, test := range map[string]struct{ busy, refused bool }{
		"a busy node":                 {true, false},
		"a busy node, it is refused":  {true, true},
		"an idle node":                {false, false},
		"an idle node, it is refused": {false, true},
	} {
		t.Run(name, func(t *testing.T) {
			inRetainedBubble(t, func(t *testing.T, server *zktest.Server) {
				other := newContender(t, server)
				lock, _ := idling(t, newPeer(t, server), locks.RetainIdle(time.Hour))
				time.Sleep(sessionTimeout / 2)
				hears := deaf(t, other, path)
				begun := time.Now()
				contender := make(chan result, 1)
				go func() {
					err := locks.Do(t.Context(), locks.Within(other.mutex(), time.Hour), func(context.Context) error { return nil })
					contender <- result{err: err, at: time.Now()}
				}()
				synctest.Wait()
				if !test.refused {
					hears()
				}
				n := 0
				for ; test.busy && len(contender) == 0; n++ {
					time.Sleep(idle / 2)
					err := locks.Do(t.Context(), lock, func(context.Context) error { return nil })
					if err != nil && !errors.Is(err, zk.ErrNoAuth) { // without READ it needs to be alone
						t.Fatal(err)
					}
				}
				r := <-contender
				if got, most := r.at.Sub(begun), sessionTimeout/2+idle; got > most || r.err != nil {
					t.Errorf("it waited for %v and %d holds (%v), want at most %v", got, n, r.err, most)
				}
			})
		})
	}
}

// The listing sets the watch again, which the lost event has used up.
func TestContenderAfterALostEventIsHeardAtOnce(t *testing.T) {
	inRetainedBubble(t, func(t *testing.T, server *zktest.Server) {
		other := newContender(t, server)
		_, _ = idling(t, newPeer(t, server), locks.RetainIdle(time.Hour))
		hears := deaf(t, other, path)
		ctx, cancel := context.WithCancel(t.Context())
		first := begin(ctx, t, other.mutex())
		cancel()
		wantErr(t, soon(t, first).err, context.Canceled)
		hears()
		time.Sleep(sessionTimeout + time.Second)
		hasNodes(t, server, 1)
		begun := time.Now()
		r := soon(t, begin(t.Context(), t, other.mutex()))
		if got := r.at.Sub(begun); got > 0 {
			t.Errorf("it waited for %v, want it to be heard at once", got)
		}
		release(t, r.must(t))
	})
}

// The next connection lists the directory again. No later listing will show other contenders, so the node goes.
func TestIdleNodeWhoseDirectoryIsRefusedIsRemoved(t *testing.T) {
	inRetainedBubble(t, func(t *testing.T, server *zktest.Server) {
		other, p := newContender(t, server), newPeer(t, server)
		_, _ = idling(t, p, locks.RetainIdle(time.Hour))
		deaf(t, other, path)
		time.Sleep(sessionTimeout / 10)
		hasNodes(t, server, 1)
		p.link.Reset()
		time.Sleep(sessionTimeout / 10)
		hasNodes(t, server, 0)
	})
}
