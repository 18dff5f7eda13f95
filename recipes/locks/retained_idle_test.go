package locks_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-zookeeper/zk"

	"github.com/gocurator/curator/framework/zktest"
	"github.com/gocurator/curator/recipes/locks"
	"github.com/gocurator/curator/recipes/locks/lockstest"
)

const idle = 100 * time.Millisecond

// idling returns a retained lock whose node stays with the client from now on, and the last lease that had it.
func idling(t *testing.T, p *peer, opts ...locks.RetainOption) (*locks.RetainedLock, *locks.Lease) {
	t.Helper()
	lock := retained(p, append([]locks.RetainOption{locks.RetainIdle(idle)}, opts...)...)
	for range 2 {
		release(t, acquire(t, lock))
	}
	lease := acquire(t, lock)
	release(t, lease)
	synctest.Wait()
	return lock, lease
}

// hasNodes checks how many nodes there are.
func hasNodes(t *testing.T, server *zktest.Server, want int) {
	t.Helper()
	synctest.Wait()
	if got := server.Children(path); len(got) != want {
		t.Errorf("got nodes %v, want %d", got, want)
	}
}

// The first three grants show that no other client wants the lock. From then on its node stays, and a cycle asks
// nothing.
func TestRetainedLockOfALoneWorkerAsksNothing(t *testing.T) {
	inRetainedBubble(t, func(t *testing.T, server *zktest.Server) {
		p := newPeer(t, server)
		lock := retained(p, locks.RetainIdle(idle))
		for i := range 3 {
			hasNodes(t, server, 0)
			lease := acquire(t, lock)
			if lease.FencingCount() != 0 {
				t.Errorf("acquire %d: got count %d, want a node of its own", i, lease.FencingCount())
			}
			release(t, lease)
		}
		hasNodes(t, server, 1)
		p.link.Requests()
		const cycles = 1000
		for i := range cycles {
			lease := acquire(t, lock)
			if got, want := lease.FencingCount(), int64(i+1); got != want {
				t.Fatalf("got count %d, want %d", got, want)
			}
			release(t, lease)
		}
		if sent := p.link.Requests(); len(sent) > 0 {
			t.Errorf("%d cycles sent %v, want nothing", cycles, sent)
		}
		time.Sleep(idle)
		hasNodes(t, server, 0)
	})
}

func TestRetainedNodeGoesAfterItsIdleTime(t *testing.T) {
	inRetainedBubble(t, func(t *testing.T, server *zktest.Server) {
		p := newPeer(t, server)
		lock, _ := idling(t, p)
		for range 5 {
			time.Sleep(idle - time.Millisecond)
			hasNodes(t, server, 1)
			release(t, acquire(t, lock))
		}
		time.Sleep(idle - time.Millisecond)
		hasNodes(t, server, 1)
		time.Sleep(time.Millisecond)
		hasNodes(t, server, 0)
	})
}

func TestIdleNodeIsNobodysHold(t *testing.T) {
	inRetainedBubble(t, func(t *testing.T, server *zktest.Server) {
		p := newPeer(t, server)
		lock, lease := idling(t, p)
		if lock.IsAcquiredInThisProcess() || p.mutex().IsAcquiredInThisProcess() {
			t.Error("got an idle lock that is acquired in this process, want it not to be")
		}
		if lock.IsOwnedBy(inside(t, lease)) {
			t.Error("got an idle lock owned by its last holder, want no owner")
		}
		for _, other := range []locks.Lock{lock, p.mutex()} {
			_, err := other.Acquire(inside(t, lease))
			wantErr(t, err, locks.ErrReleased)
		}
		all, err := lock.Participants(t.Context())
		if err != nil || len(all) != 1 || !all[0].Retained || !all[0].Holds {
			t.Errorf("got participants %+v, %v, want one that is retained", all, err)
		}
		lease = acquire(t, lock)
		all, err = p.mutex().Participants(t.Context())
		if err != nil || len(all) != 1 || all[0].Retained {
			t.Errorf("got participants %+v, %v, want one that is not idle", all, err)
		}
		if !p.mutex().IsAcquiredInThisProcess() {
			t.Error("got a held lock that is not acquired in this process, want it to be")
		}
		inner := acquireIn(inside(t, lease), t, p.mutex()) // by way of the plain lock
		release(t, lease)
		if inner.Err() != nil || !lock.IsAcquiredInThisProcess() {
			t.Errorf("the inner lease has ended: %v", inner.Err())
		}
	})
}

func TestTryAcquireTakesAnIdleNode(t *testing.T) {
	inRetainedBubble(t, func(t *testing.T, server *zktest.Server) {
		p, other := newPeer(t, server), newPeer(t, server)
		lock, last := idling(t, p)
		_, err := other.mutex().TryAcquire(t.Context())
		wantErr(t, err, locks.ErrNotAcquired)
		hasNodes(t, server, 1)
		lease, err := lock.TryAcquire(t.Context())
		must(t, err)
		wantHandedOver(t, last, lease)
		_, err = lock.TryAcquire(t.Context())
		wantErr(t, err, locks.ErrNotAcquired)
		release(t, lease)
	})
}

// A contender of any client finds an idle node: one event at its holder, one deletion, one event at the contender.
func TestIdleNodeIsRemovedWhenAnotherClientComes(t *testing.T) {
	for name, contender := range map[string]func(p, other *peer) locks.Lock{
		"another client":           func(_, other *peer) locks.Lock { return other.mutex() },
		"the plain lock":           func(p, _ *peer) locks.Lock { return p.mutex() },
		"another wrapper":          func(p, _ *peer) locks.Lock { return retained(p, locks.RetainIdle(time.Second)) },
		"a reader":                 func(_, other *peer) locks.Lock { return readWrite(other).ReadLock() },
		"another client's wrapper": func(_, other *peer) locks.Lock { return retained(other, locks.RetainIdle(time.Second)) },
	} {
		t.Run(name, func(t *testing.T) {
			inRetainedBubble(t, func(t *testing.T, server *zktest.Server) {
				p, other := newPeer(t, server), newPeer(t, server)
				_, last := idling(t, p)
				p.cable.SetLatency(oneWay)
				other.cable.SetLatency(oneWay)
				p.link.Requests()
				begun := time.Now()
				r := soon(t, begin(t.Context(), t, contender(p, other)))
				lease := r.must(t)
				if got, most := r.at.Sub(begun), 3*roundTrip; got > most {
					t.Errorf("it waited for %v, want at most %v", got, most)
				}
				if n := p.link.Requests()[lockstest.Delete]; n != 1 {
					t.Errorf("got %d deletions, want 1", n)
				}
				if lease.FencingToken() <= last.FencingToken() {
					t.Errorf("token %d follows %d", lease.FencingToken(), last.FencingToken())
				}
				release(t, lease)
				settle()
			})
		})
	}
}

// A node that was of little use when another client wanted it is no reason to keep the next one.
func TestRetentionThatDidNotPayIsBanned(t *testing.T) {
	for name, test := range map[string]struct {
		uses   int
		banned bool
	}{"of no use": {0, true}, "of little use": {2, true}, "of use": {3, false}} {
		t.Run(name, func(t *testing.T) {
			inRetainedBubble(t, func(t *testing.T, server *zktest.Server) {
				p, other := newPeer(t, server), newPeer(t, server)
				lock, _ := idling(t, p)
				for range test.uses {
					release(t, acquire(t, lock))
				}
				hasNodes(t, server, 1)
				release(t, acquire(t, other.mutex()))
				keeps := func() bool {
					for range 4 {
						release(t, acquire(t, lock))
					}
					synctest.Wait()
					return len(server.Children(path)) > 0
				}
				if got := keeps(); got == test.banned {
					t.Errorf("right after it: the node is kept: got %v, want %v", got, !test.banned)
				}
				time.Sleep(31 * time.Second)
				if !keeps() {
					t.Error("got a node that is not kept 31 s after the ban, want it kept")
				}
			})
		})
	}
}

// What a local queue remembers outlasts its last use, not its first, by half a minute.
func TestBanIsRememberedSinceTheLastUse(t *testing.T) {
	inRetainedBubble(t, func(t *testing.T, server *zktest.Server) {
		p, other := newPeer(t, server), newPeer(t, server)
		release(t, acquire(t, retained(p, locks.RetainIdle(idle)))) // makes the queue
		time.Sleep(29 * time.Second)
		lock, _ := idling(t, p)
		hasNodes(t, server, 1)
		release(t, acquire(t, other.mutex()))
		time.Sleep(2 * time.Second)
		for range 4 {
			release(t, acquire(t, lock))
		}
		hasNodes(t, server, 0)
	})
}

// Ping-pong costs what it costs without retention, but for one turn in half a minute.
func TestPingPongIsNotRetained(t *testing.T) {
	inRetainedBubble(t, func(t *testing.T, server *zktest.Server) {
		p, other := newPeer(t, server), newPeer(t, server)
		mine, theirs := retained(p, locks.RetainIdle(idle)), retained(other, locks.RetainIdle(idle))
		for range 50 {
			for _, lock := range []locks.Lock{mine, theirs} {
				release(t, acquire(t, lock))
				hasNodes(t, server, 0)
			}
		}
	})
}

// The loss of an idle node is reported to no lease, and the next acquire has a node of its own.
func TestIdleNodeThatIsLost(t *testing.T) {
	for name, lose := range map[string]func(*testing.T, *zktest.Server, *peer, *locks.Lease){
		"removed by hand": func(t *testing.T, server *zktest.Server, _ *peer, last *locks.Lease) {
			remove(t, server, path+"/"+last.NodeName())
		},
		"asked to leave": func(t *testing.T, server *zktest.Server, _ *peer, last *locks.Lease) {
			must(t, server.SetData(path+"/"+last.NodeName(), []byte("__REVOKE__")))
		},
		"the session ends": func(t *testing.T, server *zktest.Server, p *peer, _ *locks.Lease) {
			expire(server, sessionID(t, p))
		},
		"the session lapses": func(_ *testing.T, _ *zktest.Server, p *peer, _ *locks.Lease) {
			p.link.Mute()
			time.Sleep(sessionTimeout)
			p.link.Heal()
		},
	} {
		t.Run(name, func(t *testing.T) {
			inRetainedBubble(t, func(t *testing.T, server *zktest.Server) {
				var told []string
				p := newPeer(t, server)
				lock := p.mutex(locks.WithTrace(locks.Trace{
					Lost:                func(locks.Lost) { told = append(told, "lost") },
					RevocationRequested: func(locks.RevocationRequested) { told = append(told, "asked") },
				})).Retained(locks.RetainIdle(sessionTimeout))
				var last *locks.Lease
				for range 3 {
					last = acquire(t, lock)
					release(t, last)
				}
				time.Sleep(60 * time.Millisecond) // the node is watched
				hasNodes(t, server, 1)
				lose(t, server, p, last)
				settle()
				hasNodes(t, server, 0)
				wantOwnNode(t, last, acquire(t, lock))
				if len(told) > 0 {
					t.Errorf("got the calls %q, want none", told)
				}
				wantErr(t, last.Err(), locks.ErrReleased)
			})
		})
	}
}

// An idle holder that is cut off cannot hear of others, so its node goes as soon as it can know: when the answer to the
// next renewal is missing. A frozen one finds its session over at its first look.
func TestIdleNodeOfASilentLink(t *testing.T) {
	for name, silent := range map[string]bool{"silent": true, "quiet": false} {
		t.Run(name, func(t *testing.T) {
			inRetainedBubble(t, func(t *testing.T, server *zktest.Server) {
				p := newPeer(t, server)
				want := time.Minute // Idle
				if silent {
					want = sessionTimeout * 3 / 8
				}
				var dropped []locks.RetentionEnded
				lock := p.mutex(locks.WithTrace(locks.Trace{
					RetentionEnded: func(d locks.RetentionEnded) { dropped = append(dropped, d) },
				})).Retained(locks.RetainIdle(time.Minute))
				for range 3 {
					release(t, acquire(t, lock))
				}
				if silent {
					p.link.Mute()
				}
				time.Sleep(2 * time.Minute)
				synctest.Wait()
				if len(dropped) != 1 || dropped[0].Idle != want {
					t.Errorf("got dropped %+v, want one after %v", dropped, want)
				}
			})
		})
	}
}

func TestRetainedNodeAfterAReconnection(t *testing.T) {
	inRetainedBubble(t, func(t *testing.T, server *zktest.Server) {
		p, other := newPeer(t, server), newPeer(t, server)
		lock, last := idling(t, p, locks.RetainIdle(time.Minute))
		p.link.Cut()
		waiter := begin(t.Context(), t, other.mutex())
		synctest.Wait()
		p.link.Heal()
		r := soon(t, waiter) // the listing of the new connection has its node
		release(t, r.must(t))
		wantOwnNode(t, last, acquire(t, lock))
	})
}

func TestCloseWithAnIdleNode(t *testing.T) {
	inRetainedBubble(t, func(t *testing.T, server *zktest.Server) {
		p := newPeer(t, server)
		_, _ = idling(t, p, locks.RetainIdle(time.Minute))
		begun := time.Now()
		wantErr(t, p.Close())
		hasNodes(t, server, 0)
		if took := time.Since(begun); took > 0 {
			t.Errorf("Close took %v", took)
		}
	})
}

// Where newcomers cannot be heard of, nothing is retained.
func TestNothingIsRetainedWithoutTheRightToRead(t *testing.T) {
	inRetainedBubble(t, func(t *testing.T, server *zktest.Server) {
		p := newPeer(t, server)
		lock, last := idling(t, p)
		if _, err := p.SetACL(t.Context(), path, zk.WorldACL(zk.PermAll&^zk.PermRead), -1); err != nil {
			t.Fatal(err)
		}
		time.Sleep(2 * idle)
		hasNodes(t, server, 0)
		lease, err := lock.Acquire(t.Context())
		if err == nil { // by its number alone
			wantOwnNode(t, last, lease)
			release(t, lease)
		}
		hasNodes(t, server, 0)
	})
}

// A node that was held back for long before is idle for no longer than others.
func TestIdleTimeAfterANodeWasHeldBack(t *testing.T) {
	inRetainedBubble(t, func(t *testing.T, server *zktest.Server) {
		p := newPeer(t, server)
		p.cable.SetLatency(time.Millisecond)
		lock, _ := idling(t, p, locks.RetainHandOvers(0), locks.RetainBusy(time.Minute))
		time.Sleep(10 * time.Millisecond) // the directory is listed
		release(t, acquire(t, lock))
		time.Sleep(idle)
		time.Sleep(5 * time.Millisecond)
		hasNodes(t, server, 0)
	})
}

// An event has come, and the listing that says of what has not: others may wait, and the bounds count.
func TestNothingIsKnownWhileTheDirectoryIsListedAgain(t *testing.T) {
	inRetainedBubble(t, func(t *testing.T, server *zktest.Server) {
		p, other := newPeer(t, server), newPeer(t, server)
		lock := retained(p)
		first := acquire(t, lock)
		waiters := []<-chan result{begin(t.Context(), t, lock), begin(t.Context(), t, lock)}
		release(t, first)
		second := soon(t, waiters[0]).must(t)
		time.Sleep(200 * time.Millisecond) // longer than Busy
		p.cable.SetLatency(oneWay)
		contender := begin(t.Context(), t, other.mutex())
		time.Sleep(oneWay + time.Millisecond) // the event is there
		release(t, second)
		release(t, soon(t, contender).must(t))
		wantOwnNode(t, second, soon(t, waiters[1]).must(t))
	})
}

// A context that has ended takes no idle node along.
func TestAcquireOfAnIdleNodeWithAContextThatHasEnded(t *testing.T) {
	inRetainedBubble(t, func(t *testing.T, server *zktest.Server) {
		p := newPeer(t, server)
		lock, last := idling(t, p)
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		if lease, err := lock.Acquire(ctx); !errors.Is(err, context.Canceled) {
			t.Errorf("got %v, %v, want %v", lease, err, context.Canceled)
		}
		wantHandedOver(t, last, acquire(t, lock))
	})
}

func TestTraceTellsOfRetainedNodes(t *testing.T) {
	inRetainedBubble(t, func(t *testing.T, server *zktest.Server) {
		p, other := newPeer(t, server), newPeer(t, server)
		var kept int
		var dropped []locks.RetentionEnded
		lock := p.mutex(locks.WithTrace(locks.Trace{
			Released: func(r locks.Released) {
				if r.Retained {
					kept++
				}
			},
			RetentionEnded: func(d locks.RetentionEnded) { dropped = append(dropped, d) },
		})).Retained(locks.RetainIdle(idle))
		for range 5 {
			release(t, acquire(t, lock))
		}
		time.Sleep(idle + time.Millisecond)
		release(t, acquire(t, lock))
		release(t, acquire(t, other.mutex()))
		synctest.Wait()
		want := []locks.RetentionEnded{{Path: path, Kept: idle, Idle: idle, Holds: 3}, {Path: path, Holds: 1, Demanded: true}}
		for i := range dropped {
			dropped[i].Node = ""
		}
		if kept != 4 || len(dropped) != 2 || dropped[0] != want[0] || dropped[1] != want[1] {
			t.Errorf("got %d kept and dropped %+v, want 4 and %+v", kept, dropped, want)
		}
	})
}

// A cycle of a retained lock makes the lease, its state, its channel and its hold, two things that watch for a dropped
// lease, and one thing more at most.
func TestRetainedCycleAllocatesLittle(t *testing.T) {
	server := zktest.NewServer()
	defer server.Close()
	client := mustConnect(server)
	defer client.Close()
	lock := locks.NewInterProcessMutex(client, path).Retained(locks.RetainIdle(time.Minute), locks.RetainBusy(time.Minute), locks.RetainHandOvers(1<<30))
	cycle := func() {
		lease, err := lock.Acquire(t.Context())
		must(t, err)
		must(t, lease.Release())
	}
	for range 10 {
		cycle()
	}
	const most = 7
	got := testing.AllocsPerRun(200, cycle)
	for range 2 { // in a stalled machine's, pings and a new connection are counted too
		got = min(got, testing.AllocsPerRun(200, cycle))
	}
	if got > most {
		t.Errorf("got %v allocations in a cycle, want at most %v", got, most)
	}
}
