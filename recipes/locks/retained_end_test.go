package locks_test

import (
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-zookeeper/zk"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/framework/zktest"
	"github.com/gocurator/curator/recipes/locks"
)

// The asker wants the node gone.
func TestANodeThatWasAskedForIsNotHandedOver(t *testing.T) {
	for name, lock := range map[string]func(*peer) locks.Lock{
		"mutex":      func(p *peer) locks.Lock { return retained(p) },
		"write lock": func(p *peer) locks.Lock { return readWrite(p).WriteLock().Retained() },
	} {
		t.Run(name, func(t *testing.T) {
			inRetainedBubble(t, func(t *testing.T, server *zktest.Server) {
				p := newPeer(t, server)
				first := acquire(t, lock(p))
				waiters := []<-chan result{begin(t.Context(), t, lock(p)), begin(t.Context(), t, lock(p))}
				time.Sleep(10 * time.Millisecond)
				// Before the node is watched: the next hold is the one that hears of it.
				must(t, server.SetData(path+"/"+first.NodeName(), []byte("__REVOKE__")))
				release(t, first)
				second := (<-waiters[0]).must(t)
				wantHandedOver(t, first, second)
				time.Sleep(60 * time.Millisecond)
				wantAsked(t, second, true)
				release(t, second)
				third := soon(t, waiters[1]).must(t)
				wantOwnNode(t, second, third)
				settle()
				wantAsked(t, third, false)
			})
		})
	}
}

func TestALostHoldIsNotHandedOver(t *testing.T) {
	inRetainedBubble(t, func(t *testing.T, server *zktest.Server) {
		p := newPeer(t, server)
		mutex := retained(p)
		first := acquire(t, mutex)
		waiters := []<-chan result{begin(t.Context(), t, mutex), begin(t.Context(), t, mutex)}
		time.Sleep(60 * time.Millisecond)
		release(t, first)
		second := (<-waiters[0]).must(t)
		remove(t, server, path+"/"+second.NodeName())
		third := soon(t, waiters[1]).must(t) // without any release
		wantErr(t, second.Err(), locks.ErrLeaseLost, locks.ErrRemoved)
		wantErr(t, second.Release(), locks.ErrLeaseLost)
		wantOwnNode(t, second, third)
		isAlive(t, third)
	})
}

// Local waiters do not look after the session, but the front does, and passes the line on.
func TestLocalWaitersOutlastTheSession(t *testing.T) {
	for name, held := range map[string]bool{"behind a holder": true, "behind a waiter": false} {
		t.Run(name, func(t *testing.T) {
			inRetainedBubble(t, func(t *testing.T, server *zktest.Server) {
				p, remote := newPeer(t, server), newPeer(t, server)
				mutex := retained(p)
				front := p
				if !held {
					front = remote
				}
				holder := acquire(t, retained(front))
				var waiters []<-chan result
				for range 4 {
					waiters = append(waiters, begin(t.Context(), t, mutex))
				}
				p.link.Cut()
				time.Sleep(time.Hour) // longer than the session, and than the client waits for a connection
				for _, waiter := range waiters {
					isWaiting(t, waiter)
				}
				p.link.Heal()
				if held {
					wantErr(t, holder.Release(), locks.ErrLeaseLost)
				} else {
					settle()
					release(t, holder)
				}
				for _, waiter := range waiters {
					release(t, soon(t, waiter).must(t))
				}
				wantNodes(t, server, path, "", 0)
			})
		})
	}
}

// A connection that is lost is no reason: the session is valid.
func TestAHandoverNeedsNoConnection(t *testing.T) {
	inRetainedBubble(t, func(t *testing.T, server *zktest.Server) {
		p := newPeer(t, server)
		mutex := retained(p)
		first := acquire(t, mutex)
		waiters := []<-chan result{begin(t.Context(), t, mutex), begin(t.Context(), t, mutex)}
		p.link.Cut()
		time.Sleep(10 * time.Millisecond)
		release(t, first)
		second := (<-waiters[0]).must(t)
		wantHandedOver(t, first, second)
		<-second.Done() // the session lapses
		isWaiting(t, waiters[1])
		p.link.Heal()
		soon(t, waiters[1]).must(t)
	})
}

func TestCloseEndsTheLocalQueue(t *testing.T) {
	for name, held := range map[string]bool{"behind a holder": true, "behind a waiter": false} {
		t.Run(name, func(t *testing.T) {
			inRetainedBubble(t, func(t *testing.T, server *zktest.Server) {
				p, front := newPeer(t, server), newPeer(t, server)
				if held {
					front = p
				}
				acquire(t, retained(front))
				var waiters []<-chan result
				for range 20 {
					waiters = append(waiters, begin(t.Context(), t, retained(p)))
				}
				begun := time.Now()
				wantErr(t, p.Close())
				for _, waiter := range waiters {
					r := soon(t, waiter)
					wantErr(t, r.err, framework.ErrClosed)
					if !r.at.Equal(begun) {
						t.Errorf("it took %v", r.at.Sub(begun))
					}
				}
			})
		})
	}
}

// They do not find out one after the other.
func TestThoseWhoCannotConnectFailTogether(t *testing.T) {
	inRetainedBubble(t, func(t *testing.T, server *zktest.Server) {
		p := newPeer(t, server)
		p.link.Cut()
		synctest.Wait()
		begun := time.Now()
		var waiters []<-chan result
		for range 5 {
			waiters = append(waiters, begin(t.Context(), t, retained(p)))
		}
		for _, waiter := range waiters {
			r := soon(t, waiter)
			var unreachable *framework.ConnectError
			if !errors.As(r.err, &unreachable) || r.at.Sub(begun) != p.ConnectionTimeout() {
				t.Errorf("it fails with %v after %v", r.err, r.at.Sub(begun))
			}
		}
	})
}

// A Check that was taken in a hold must fail after it, so the node must not have another one.
func TestANodeOfWhichACheckWasTakenIsNotHandedOver(t *testing.T) {
	inRetainedBubble(t, func(t *testing.T, server *zktest.Server) {
		p := newPeer(t, server)
		mutex := retained(p)
		first := acquire(t, mutex)
		waiter := begin(t.Context(), t, mutex)
		check := first.Check()
		if _, err := p.Transaction(t.Context(), check); err != nil {
			t.Errorf("within the hold: %v", err)
		}
		release(t, first)
		second := soon(t, waiter).must(t)
		if _, err := p.Transaction(t.Context(), check); !errors.Is(err, zk.ErrNoNode) {
			t.Errorf("in the next hold: got %v, want zk.ErrNoNode", err)
		}
		wantOwnNode(t, first, second)
		_, err := p.Transaction(t.Context(), first.Check())
		wantErr(t, err, locks.ErrReleased)
	})
}
