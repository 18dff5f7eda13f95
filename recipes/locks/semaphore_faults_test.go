package locks_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-zookeeper/zk"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/framework/zktest"
	"github.com/gocurator/curator/recipes/locks"
)

// ownNode returns the path of the only node of that client in a directory.
func ownNode(t *testing.T, server *zktest.Server, p *peer, dir string) string {
	t.Helper()
	session, err := p.Session(t.Context())
	must(t, err)
	var found []string
	for _, name := range server.Children(dir) {
		if stat, _ := server.Stat(dir + "/" + name); stat.EphemeralOwner == session.ID() {
			found = append(found, dir+"/"+name)
		}
	}
	if len(found) != 1 {
		t.Fatalf("the client has %v", found)
	}
	return found[0]
}

func remove(t *testing.T, server *zktest.Server, path string) {
	t.Helper()
	must(t, server.Delete(path))
	settle()
}

// Curator: testNoOrphanedNodes (CURATOR-315). The lease node of the one who waits is removed by hand: it begins again,
// and at the end there is nothing left.
func TestWaiterWhoseLeaseNodeIsRemovedBeginsAgain(t *testing.T) {
	inBubble(t, func(t *testing.T, server *zktest.Server) {
		first, second, third := newPeer(t, server), newPeer(t, server), newPeer(t, server)
		held := acquire(t, semaphore(first, 1))
		waiter := begin(t.Context(), t, semaphore(second, 1))
		next := begin(t.Context(), t, semaphore(third, 1))
		settle()
		remove(t, server, ownNode(t, server, second, leasesPath))
		isWaiting(t, waiter)
		wantNodes(t, server, leasesPath, "", 2)
		wantNodes(t, server, gatePath, "", 2)
		release(t, held)
		release(t, (<-next).must(t)) // it went to the tail of the gate
		release(t, (<-waiter).must(t))
		wantEmpty(t, server)
		release(t, acquire(t, semaphore(first, 1)))
	})
}

// Two contenders that want two leases each: the gate node of the one who has one already is removed by hand. If it kept
// its lease node, it and the next one would have one each, and wait for each other for ever.
func TestWaiterWhoseGateNodeIsRemovedGivesUpWhatItHas(t *testing.T) {
	inBubble(t, func(t *testing.T, server *zktest.Server) {
		first, second, third := newPeer(t, server), newPeer(t, server), newPeer(t, server)
		held := acquire(t, semaphore(first, 2))
		big := &several{InterProcessSemaphoreV2: semaphore(second, 2), n: 2}
		other := &several{InterProcessSemaphoreV2: semaphore(third, 2), n: 2}
		waiter, next := begin(t.Context(), t, big), begin(t.Context(), t, other)
		settle()
		remove(t, server, ownNode(t, server, second, gatePath))
		isWaiting(t, waiter)
		isWaiting(t, next)
		release(t, held)
		(<-next).must(t)
		isWaiting(t, waiter)
		wantErr(t, locks.ReleaseAll(other.leases...))
		(<-waiter).must(t)
		wantErr(t, locks.ReleaseAll(big.leases...))
		wantEmpty(t, server)
	})
}

func TestWaiterAtTheGateWhoseNodeIsRemovedQueuesAgain(t *testing.T) {
	inBubble(t, func(t *testing.T, server *zktest.Server) {
		first, second, third := newPeer(t, server), newPeer(t, server), newPeer(t, server)
		held := acquire(t, semaphore(first, 1))
		front := begin(t.Context(), t, semaphore(second, 1))
		behind := begin(t.Context(), t, semaphore(third, 1))
		settle()
		remove(t, server, ownNode(t, server, third, gatePath))
		isWaiting(t, behind)
		wantNodes(t, server, gatePath, "", 2)
		release(t, held)
		release(t, (<-front).must(t))
		release(t, (<-behind).must(t))
	})
}

func TestHolderWhoseLeaseNodeIsRemovedLosesTheLease(t *testing.T) {
	inBubble(t, func(t *testing.T, server *zktest.Server) {
		p := newPeer(t, server)
		held := acquireN(t, semaphore(p, 2), 2)
		settle()
		remove(t, server, leasesPath+"/"+held[0].NodeName())
		wantErr(t, held[0].Err(), locks.ErrLeaseLost, locks.ErrRemoved)
		if held[1].Err() != nil {
			t.Errorf("the other lease: %v", held[1].Err())
		}
		release(t, acquire(t, semaphore(p, 2)))
	})
}

// Curator: testInterruptAcquire (CURATOR-462).
func TestCancelledWaitLeavesNoNodeAndNoWatch(t *testing.T) {
	inBubble(t, func(t *testing.T, server *zktest.Server) {
		p, other := newPeer(t, server), newPeer(t, server)
		held := acquireN(t, semaphore(p, 3), 2)
		settle()
		watches := server.WatchCount()
		for range 20 {
			ctx, cancel := context.WithCancel(t.Context())
			waiter := begin(ctx, t, &several{InterProcessSemaphoreV2: semaphore(other, 3), n: 3})
			isWaiting(t, waiter)
			cancel()
			wantErr(t, (<-waiter).err, context.Canceled)
		}
		wantNodes(t, server, leasesPath, "", 2)
		wantNodes(t, server, gatePath, "", 0)
		if n := server.WatchCount(); n != watches {
			t.Errorf("%d watches, before %d", n, watches)
		}
		wantErr(t, locks.ReleaseAll(held...))
		release(t, acquire(t, semaphore(other, 3)))
	})
}

// Every request of an acquire fails in turn, in every way: it comes to its end all the same, and then there is one
// lease, and nothing of the gate.
func TestFaultsBetweenGateAndLeaseLoseNoPermit(t *testing.T) {
	faults := map[string]func(*zktest.Server, zktest.Match){
		"reply lost": (*zktest.Server).DropReply, "request lost": (*zktest.Server).DropRequest,
	}
	for name, fault := range faults {
		for _, op := range []zktest.Op{zktest.OpCreate2, zktest.OpGetChildren2, zktest.OpDelete, zktest.OpGetData, zktest.OpMulti} {
			for nth := 1; nth <= 4; nth++ {
				inBubble(t, func(t *testing.T, server *zktest.Server) {
					p, other := newPeer(t, server), newPeer(t, server)
					held := acquireN(t, semaphore(other, 3), 2)
					settle()
					session, err := p.Session(t.Context())
					must(t, err)
					fault(server, zktest.Match{Op: op, Nth: nth, Session: session.ID()})
					s := semaphore(p, 3)
					big := &several{InterProcessSemaphoreV2: s, n: 2}
					waiter := begin(t.Context(), t, big)
					settle()
					release(t, held[0])
					r := <-waiter
					if r.err != nil {
						t.Fatalf("%s of %v, %d: %v", name, op, nth, r.err)
					}
					wantNodes(t, server, leasesPath, "", 3)
					wantNodes(t, server, gatePath, "", 0)
					if err := locks.ReleaseAll(big.leases...); err != nil {
						t.Errorf("%s of %v, %d: %v", name, op, nth, err)
					}
					release(t, held[1])
					wantEmpty(t, server)
				})
			}
		}
	}
}

// The answer to the removal of the gate's node is lost (Curator then loses the permit): the lease is there, and the
// next one passes the gate.
func TestGateWhoseRemovalIsNotAnsweredLosesNoPermit(t *testing.T) {
	inBubble(t, func(t *testing.T, server *zktest.Server) {
		p, other := newPeer(t, server), newPeer(t, server)
		server.DropReply(zktest.Match{Op: zktest.OpDelete, Path: gatePath + "/*"})
		lease := acquire(t, semaphore(p, 2))
		second := acquire(t, semaphore(other, 2))
		wantNodes(t, server, leasesPath, "", 2)
		wantNodes(t, server, gatePath, "", 0)
		release(t, lease)
		release(t, second)
		wantEmpty(t, server)
	})
}

// Curator: testAcquireAfterLostServer (CURATOR-335).
func TestWaitersOutlastARestartOfTheServer(t *testing.T) {
	inBubble(t, func(t *testing.T, server *zktest.Server) {
		done := make(chan error, 10)
		p := newPeer(t, server)
		for range cap(done) {
			go func() {
				done <- locks.Do(t.Context(), semaphore(p, 1), func(ctx context.Context) error {
					select {
					case <-time.After(time.Second):
						return nil
					case <-ctx.Done():
						return context.Cause(ctx)
					}
				})
			}()
		}
		time.Sleep(2500 * time.Millisecond)
		server.RefuseConnections(true)
		server.CutAll()
		time.Sleep(sessionTimeout / 4)
		server.Restart()
		server.RefuseConnections(false)
		for range cap(done) {
			wantErr(t, <-done)
		}
		wantEmpty(t, server)
	})
}

// The session ends while one has the gate and others wait behind it: all of them queue again, and all are served.
func TestSessionLossLetsAllQueueAgain(t *testing.T) {
	for name, end := range map[string]func(*testing.T, *zktest.Server, *peer){
		"killed": func(t *testing.T, server *zktest.Server, p *peer) {
			session, err := p.Session(t.Context())
			must(t, err)
			expire(server, session.ID())
		},
		"long outage": func(_ *testing.T, _ *zktest.Server, p *peer) {
			p.link.Cut()
			time.Sleep(time.Minute) // longer than the connection timeout, too
			p.link.Heal()
		},
	} {
		t.Run(name, func(t *testing.T) {
			inBubble(t, func(t *testing.T, server *zktest.Server) {
				other, p := newPeer(t, server), newPeer(t, server)
				held := acquire(t, semaphore(other, 2))
				var line []<-chan result
				for range 3 {
					line = append(line, begin(t.Context(), t, &several{InterProcessSemaphoreV2: semaphore(p, 2), n: 1}))
				}
				release(t, (<-line[0]).must(t))
				(<-line[1]).must(t) // keeps the second lease, and loses it
				isWaiting(t, line[2])
				end(t, server, p)
				lease := (<-line[2]).must(t)
				if lease.Err() != nil {
					t.Error(lease.Err())
				}
				wantNodes(t, server, leasesPath, "", 2)
				wantNodes(t, server, gatePath, "", 0)
				release(t, lease)
				release(t, held)
				wantEmpty(t, server)
			})
		})
	}
}

// The session lapses while the acquire waits, and lives on: the wait goes on, with the same nodes.
func TestWaitOutlastsALapseOfTheSession(t *testing.T) {
	inBubble(t, func(t *testing.T, server *zktest.Server) {
		other, p := newPeer(t, server), newPeer(t, server)
		held := acquireN(t, semaphore(other, 2), 1)
		own := acquire(t, semaphore(p, 2)) // shows when the session lapses
		waiter := begin(t.Context(), t, semaphore(p, 2))
		settle()
		gate := ownNode(t, server, p, gatePath)
		p.link.Cut()
		<-own.Done()
		p.link.Heal()
		settle()
		lease := (<-waiter).must(t) // the lapsed lease has made room
		if lease.Err() != nil || server.Exists(gate) {
			t.Errorf("%v; gate %v", lease.Err(), server.Children(gatePath))
		}
		wantNodes(t, server, leasesPath, "", 2)
		release(t, lease)
		wantErr(t, locks.ReleaseAll(held...))
	})
}

// The answers that admit come after the session has lapsed: nothing is given on them but after a new look.
func TestNothingIsGrantedInALapsedSession(t *testing.T) {
	inBubble(t, func(t *testing.T, server *zktest.Server) {
		p := newPeer(t, server)
		release(t, acquire(t, semaphore(p, 2)))
		settle()
		server.DelayReply(zktest.Match{Op: zktest.OpCreate2, Nth: 2}, sessionTimeout*95/100)
		leases := acquireN(t, semaphore(p, 2), 2)
		for _, lease := range leases {
			if lease.Err() != nil || !lease.ValidUntil().After(time.Now()) {
				t.Errorf("%v, valid until %v", lease.Err(), lease.ValidUntil())
			}
		}
		wantNodes(t, server, leasesPath, "", 2)
		wantNodes(t, server, gatePath, "", 0)
	})
}

// A release makes room at once for the same client, also while its removal is on its way.
func TestLeaseThatIsLeavingMakesRoomForTheSameClient(t *testing.T) {
	inBubble(t, func(t *testing.T, server *zktest.Server) {
		p := newPeer(t, server)
		s := semaphore(p, 1)
		lease := acquire(t, s)
		settle()
		p.cable.SetLatency(500 * time.Millisecond)
		released := make(chan error, 1)
		go func() { released <- lease.Release() }()
		synctest.Wait()
		next, err := s.TryAcquire(t.Context())
		must(t, err)
		wantErr(t, errors.Join(<-released, next.Release()))
	})
}

// Java's semaphore has the same nodes, but counts all children.
func TestLeasesOfJavaCountAndStrangersDoNot(t *testing.T) {
	inBubble(t, func(t *testing.T, server *zktest.Server) {
		p := newPeer(t, server)
		ours := acquire(t, semaphore(p, 2))
		theirs, _, err := newPeer(t, server).Create(t.Context(), leasesPath+"/lease-", nil,
			framework.WithMode(framework.EphemeralSequential), framework.WithProtection())
		must(t, err)
		if !strings.HasPrefix(theirs, leasesPath+"/_c_") {
			t.Fatal(theirs)
		}
		_, err = semaphore(p, 2).TryAcquire(t.Context())
		wantErr(t, err, locks.ErrNotAcquired)
		release(t, ours)
		for _, stranger := range []string{"readme", "lease-", "lease-12", "_c_lock-0000000001", "release-0000000000"} {
			must(t, server.Create(leasesPath+"/"+stranger, nil))
		}
		release(t, acquire(t, semaphore(p, 2)))
	})
}

// Each client goes by its own limit: there are never more leases than the greatest of them.
func TestClientsWithDifferentLimitsGoByTheirOwn(t *testing.T) {
	inBubble(t, func(t *testing.T, server *zktest.Server) {
		small, great := newPeer(t, server), newPeer(t, server)
		held := acquireN(t, semaphore(great, 3), 2)
		waiter := begin(t.Context(), t, semaphore(small, 1))
		release(t, held[0])
		isWaiting(t, waiter)
		release(t, held[1])
		lease := (<-waiter).must(t)
		more := acquireN(t, semaphore(great, 3), 2)
		_, err := semaphore(great, 3).TryAcquire(t.Context())
		wantErr(t, err, locks.ErrNotAcquired)
		release(t, lease)
		wantErr(t, locks.ReleaseAll(more...))
	})
}

// What keeps a try from a lease is reported as it is, and only a lease that is taken as ErrNotAcquired.
func TestTryTellsWhatItMet(t *testing.T) {
	inBubble(t, func(t *testing.T, server *zktest.Server) {
		p, other := newPeer(t, server), newPeer(t, server)
		s := semaphore(p, 2)
		release(t, acquire(t, s))
		settle()
		session, err := p.Session(t.Context())
		must(t, err)
		goOn := server.HoldRequest(zktest.Match{Op: zktest.OpCreate2, Session: session.ID()})
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		_, err = s.TryAcquire(ctx)
		wantErr(t, err, context.DeadlineExceeded)
		if errors.Is(err, locks.ErrNotAcquired) {
			t.Error(err)
		}
		goOn()
		settle()
		// A request waits at the gate, for more than there is.
		held := acquire(t, semaphore(other, 2))
		ctx, cancel = context.WithCancel(t.Context())
		waiter := begin(ctx, t, &several{InterProcessSemaphoreV2: semaphore(other, 2), n: 2})
		settle()
		_, err = s.TryAcquire(t.Context())
		wantErr(t, err, locks.ErrNotAcquired)
		cancel()
		<-waiter
		release(t, held)
		wantEmpty(t, server)
		// The node of the try is removed by hand between its creation and the look.
		stop := server.Observe(func(r zktest.Request) {
			if r.Op == zktest.OpGetChildren2 && r.Path == leasesPath && len(server.Children(leasesPath)) > 0 {
				_ = server.Delete(leasesPath + "/" + server.Children(leasesPath)[0])
			}
		})
		_, err = s.TryAcquire(t.Context())
		stop()
		wantErr(t, err, locks.ErrNotAcquired)
		wantEmpty(t, server)
	})
}

func TestRefusalOfTheServerEndsAnAcquire(t *testing.T) {
	inBubble(t, func(t *testing.T, server *zktest.Server) {
		p := newPeer(t, server)
		release(t, acquire(t, semaphore(p, 1)))
		if _, err := p.SetACL(t.Context(), leasesPath, zk.WorldACL(zk.PermRead), -1); err != nil {
			t.Fatal(err)
		}
		for _, acquire := range []func(context.Context) (*locks.Lease, error){semaphore(p, 1).Acquire, semaphore(p, 1).TryAcquire} {
			_, err := acquire(t.Context())
			wantErr(t, err, zk.ErrNoAuth)
			if errors.Is(err, locks.ErrNotAcquired) {
				t.Error(err)
			}
		}
		wantEmpty(t, server)
	})
}

// A path is for one recipe: the second one gets an error that says so.
func TestMixedRecipesOnOnePathAreRefused(t *testing.T) {
	inBubble(t, func(t *testing.T, server *zktest.Server) {
		p, other := newPeer(t, server), newPeer(t, server)
		queues := []locks.Lock{other.mutex(), readWrite(other).ReadLock(), readWrite(other).WriteLock()}
		lease := acquire(t, semaphore(p, 1))
		for _, lock := range queues {
			for _, acquire := range []func(context.Context) (*locks.Lease, error){lock.Acquire, lock.TryAcquire} {
				_, err := acquire(t.Context())
				wantErr(t, err, locks.ErrOtherRecipe)
			}
		}
		release(t, lease)
		time.Sleep(10 * time.Second) // the directories are containers, and go
		for _, lock := range queues {
			lease := acquire(t, lock)
			for _, s := range []locks.Lock{semaphore(p, 1), locks.NewInterProcessSemaphoreMutex(p.Client, path)} {
				for _, acquire := range []func(context.Context) (*locks.Lease, error){s.Acquire, s.TryAcquire} {
					_, err := acquire(t.Context())
					wantErr(t, err, locks.ErrOtherRecipe)
				}
			}
			release(t, lease)
		}
	})
}
