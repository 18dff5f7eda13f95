package locks_test

import (
	"context"
	"errors"
	"maps"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-zookeeper/zk"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/framework/zktest"
	"github.com/gocurator/curator/recipes/locks/lockstest"
)

// secretly gives a client's nodes an ACL that lets no client of the test read them, not even their own. Since 3.8.4 and
// 3.9.2 a server sends no event of such a node, and setWatches is not refused.
func secretly() framework.Option {
	return framework.WithACLProvider(func(string) []zk.ACL { return zk.DigestACL(zk.PermAll, "a", "b") })
}

// The node of one contender is removed by hand, and no event reports that. The next one is admitted.
func TestContenderThatMayNotReadItsNodeIsAdmittedOnlyByAListing(t *testing.T) {
	world := framework.WithACLProvider(func(string) []zk.ACL { return zk.WorldACL(zk.PermAll &^ zk.PermRead) })
	for name, c := range map[string]struct {
		acl    framework.Option
		waited bool
	}{
		"at its first wait":  {acl: secretly()},
		"later":              {secretly(), true},
		"no client may read": {world, true},
	} {
		t.Run(name, func(t *testing.T) {
			inBubble(t, func(t *testing.T, server *zktest.Server) {
				stranded(t, server, 0)
				holder, p, next := newPeer(t, server), newPeer(t, server, c.acl), newPeer(t, server)
				if c.waited {
					waitOnce(t, server, p)
				}
				held := acquire(t, holder.mutex())
				waiters := []<-chan result{begin(t.Context(), t, p.mutex())}
				synctest.Wait()
				for _, node := range server.Children(path) {
					if node != held.NodeName() {
						remove(t, server, path+"/"+node)
					}
				}
				waiters = append(waiters, begin(t.Context(), t, next.mutex()))
				synctest.Wait()
				release(t, held)
				time.Sleep(time.Second)
				admitted := 0
				for _, waiter := range waiters {
					select {
					case r := <-waiter:
						defer release(t, r.must(t))
						admitted++
					default:
					}
				}
				if admitted != 1 {
					t.Errorf("got %d holders at a time, want one", admitted)
				}
			})
		})
	}
}

// handOver is how long a client waits for a lock after another has released it.
func handOver(t *testing.T, from, to *peer) time.Duration {
	t.Helper()
	held := acquire(t, from.mutex())
	waiter := begin(t.Context(), t, to.mutex())
	synctest.Wait()
	begun := time.Now()
	release(t, held)
	r := (<-waiter).must(t)
	defer release(t, r)
	return time.Since(begun)
}

func TestWaiterBehindANodeThatItMayNotReadHearsOfItsEnd(t *testing.T) {
	inBubble(t, func(t *testing.T, server *zktest.Server) {
		stranded(t, server, 0)
		secret, old := newPeer(t, server, secretly()), newPeer(t, server)
		handOver(t, old, old) // that a client may read its own nodes says nothing of others
		for i := range 3 {
			for name, p := range map[string]*peer{"a new client": newPeer(t, server), "the same client": old} {
				if took := handOver(t, secret, p); took != 0 {
					t.Errorf("hand-over %d to %s took %v, want no time", i, name, took)
				}
			}
		}
	})
}

// The client has read the node of one contender, and concludes that it may read those of the others. Once that has cost
// it an eighth of a session timeout, it reads each node, and watches no more of them than it has to.
func TestDirectoryWithSeveralACLsCostsAClientAnEighthOfASessionTimeout(t *testing.T) {
	inBubble(t, func(t *testing.T, server *zktest.Server) {
		stranded(t, server, 0)
		open, secret, p := newPeer(t, server), newPeer(t, server, secretly()), newPeer(t, server)
		if took := handOver(t, open, p); took != 0 {
			t.Errorf("the hand-over from a node that may be read took %v, want no time", took)
		}
		if took := handOver(t, secret, p); took == 0 || took > sessionTimeout/8 {
			t.Errorf("the first hand-over from a node that may not be read took %v, want an eighth of a session timeout at most", took)
		}
		for range 2 {
			if took := handOver(t, secret, p); took != 0 {
				t.Errorf("the next hand-over took %v, want no time", took)
			}
			s, err := p.Session(t.Context())
			must(t, err)
			expire(server, s.ID())
			time.Sleep(time.Second)
		}
		p.link.Requests()
		nodes := stranded(t, server, 3)
		waiter := begin(t.Context(), t, p.mutex())
		want := map[lockstest.Op]int{lockstest.Create: 1, lockstest.GetChildren: 1, lockstest.GetData: 2}
		if got := p.link.Requests(); !maps.Equal(got, want) {
			t.Errorf("with three ahead it sent %v, want %v", got, want)
		}
		for _, node := range nodes {
			remove(t, server, node)
		}
		release(t, soon(t, waiter).must(t))
	})
}

// None of the waits lasts until the first late read. The first one behind a node that may not be read fails.
func TestShortWaitsBehindANodeThatMayNotBeReadFailOnce(t *testing.T) {
	for name, readsBetween := range map[string]bool{"one after the other": false, "with nodes that may be read between": true} {
		t.Run(name, func(t *testing.T) {
			inBubble(t, func(t *testing.T, server *zktest.Server) {
				stranded(t, server, 0)
				open, secret, p := newPeer(t, server), newPeer(t, server, secretly()), newPeer(t, server)
				handOver(t, open, p)
				failed := 0
				for range 5 {
					if readsBetween {
						handOver(t, open, p)
					}
					held := acquire(t, secret.mutex())
					ctx, cancel := context.WithTimeout(t.Context(), sessionTimeout/32)
					waiter := begin(ctx, t, p.mutex())
					release(t, held)
					if r := <-waiter; errors.Is(r.err, context.DeadlineExceeded) {
						failed++
					} else {
						release(t, r.must(t))
					}
					cancel()
				}
				if failed != 1 {
					t.Errorf("got %d of 5 waits for a lock that was released at once that failed, want the first alone", failed)
				}
			})
		})
	}
}

// Only nodes that the client knows to be readable are watched without a read: its own by their ACL, those of others
// once it has read one in the directory.
func TestWaiterReadsWhatItDoesNotKnowToBeReadable(t *testing.T) {
	own := framework.WithACLProvider(func(string) []zk.ACL { return zk.AuthACL(zk.PermAll) })
	for name, c := range map[string]struct {
		opts        []framework.Option
		first, next map[lockstest.Op]int
	}{
		"its node is open": {
			nil,
			map[lockstest.Op]int{lockstest.Create: 1, lockstest.GetChildren: 1, lockstest.GetData: 1, lockstest.SetWatches: 1},
			map[lockstest.Op]int{lockstest.Create: 1, lockstest.GetChildren: 1, lockstest.SetWatches: 1},
		},
		"its node is its creator's": {
			[]framework.Option{framework.WithAuthorization("digest", []byte("a:b")), own},
			map[lockstest.Op]int{lockstest.Create: 1, lockstest.GetChildren: 1, lockstest.GetData: 2},
			map[lockstest.Op]int{lockstest.Create: 1, lockstest.GetChildren: 1, lockstest.GetData: 1, lockstest.SetWatches: 1},
		},
	} {
		t.Run(name, func(t *testing.T) {
			inBubble(t, func(t *testing.T, server *zktest.Server) {
				p := newPeer(t, server, c.opts...)
				for _, want := range []map[lockstest.Op]int{c.first, c.next} {
					nodes := stranded(t, server, 2)
					p.link.Requests()
					waiter := begin(t.Context(), t, p.mutex())
					if got := p.link.Requests(); !maps.Equal(got, want) {
						t.Errorf("it sent %v, want %v", got, want)
					}
					for _, node := range nodes {
						remove(t, server, node)
					}
					release(t, soon(t, waiter).must(t))
				}
			})
		})
	}
}

// Its node is watched without a read.
func TestContenderWhoseNodeIsOpenHearsOfItsRemovalAndQueuesAgain(t *testing.T) {
	inBubble(t, func(t *testing.T, server *zktest.Server) {
		p := newPeer(t, server)
		waitOnce(t, server, p)
		held := acquire(t, newPeer(t, server).mutex())
		waiter := begin(t.Context(), t, p.mutex())
		if got := p.link.Requests(); got[lockstest.SetWatches] != 1 || got[lockstest.GetData] != 0 {
			t.Errorf("it sent %v, want one request that sets watches, and no read", got)
		}
		for _, node := range server.Children(path) {
			if node != held.NodeName() {
				remove(t, server, path+"/"+node)
			}
		}
		synctest.Wait()
		if got := p.link.Requests()[lockstest.Create]; got != 1 {
			t.Errorf("it created %d nodes, want another one in place of the first", got)
		}
		release(t, held)
		release(t, soon(t, waiter).must(t))
	})
}
