package locks_test

import (
	"context"
	"encoding/binary"
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-zookeeper/zk"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/framework/zktest"
	"github.com/gocurator/curator/recipes/locks"
	"github.com/gocurator/curator/recipes/shared"
)

func limitOf(n int32) []byte { return binary.BigEndian.AppendUint32(nil, uint32(n)) }

// rebuild makes the chroot and the limit below it at the server.
func rebuild(t *testing.T, server *zktest.Server, limit int32) {
	t.Helper()
	for _, err := range []error{server.Create("/app", nil), server.Create("/app/limit", limitOf(limit))} {
		must(t, err)
	}
}

// wipe deletes both, and ends the session of p.
func wipe(t *testing.T, server *zktest.Server, p *peer) {
	t.Helper()
	id := sessionID(t, p)
	for _, err := range []error{server.Delete("/app/limit"), server.Delete("/app")} {
		must(t, err)
	}
	expire(server, id)
}

// wantRefused checks that acquires are refused since the limit is not followed.
func wantRefused(t *testing.T, s *limited, reason error) {
	t.Helper()
	for name, acquire := range map[string]func(context.Context) (*locks.Lease, error){
		"Acquire": s.Acquire, "TryAcquire": s.TryAcquire, "Within": locks.Within(s, time.Second).Acquire,
	} {
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		lease, err := acquire(ctx)
		cancel()
		wantUnfollowed(t, name, result{lease: lease, err: err}, reason)
	}
}

func wantUnfollowed(t *testing.T, what string, r result, reason error) {
	t.Helper()
	if r.err == nil || !errors.Is(r.err, reason) || !strings.Contains(r.err.Error(), "is not followed: ") {
		t.Errorf("%s: got %v, %v, want a limit that is not followed: %v", what, r.lease, r.err, reason)
	}
}

// The ensemble is rebuilt without the chroot. Later the chroot is created again, and the limit with a smaller number.
func TestSemaphoreKeepsTheLimitOfAChrootThatWasMadeAnew(t *testing.T) {
	inBubble(t, func(t *testing.T, server *zktest.Server) {
		rebuild(t, server, 3)
		s := followLimit(t, newPeerAt(t, server, "/app"), "/limit", 9)
		wipe(t, server, s.peer)
		time.Sleep(2 * time.Minute)
		wantRefused(t, s, framework.ErrNoChroot)
		rebuild(t, server, 1)
		time.Sleep(2 * time.Minute)
		if got := s.count.Count(); got != 1 {
			t.Errorf("got count %d, want 1", got)
		}
		leases := 0
		for range 3 {
			lease, err := s.TryAcquire(t.Context())
			if err != nil {
				wantErr(t, err, locks.ErrNotAcquired)
				continue
			}
			t.Cleanup(func() { _ = lease.Release() })
			leases++
		}
		if leases != 1 {
			t.Errorf("got %d leases under a limit of 1", leases)
		}
	})
}

// The chroot and the client's session are there again; the limit is not read yet.
func TestSemaphoreAdmitsNobodyBeforeALimitThatWasLostIsRead(t *testing.T) {
	inBubble(t, func(t *testing.T, server *zktest.Server) {
		rebuild(t, server, 3)
		s := followLimit(t, newPeerAt(t, server, "/app"), "/limit", 9)
		wipe(t, server, s.peer)
		time.Sleep(2 * time.Minute)
		answer := server.HoldRequest(zktest.Match{Op: zktest.OpGetData, Path: "/app/limit"})
		rebuild(t, server, 1)
		must(t, s.BlockUntilConnected(t.Context()))
		wantRefused(t, s, framework.ErrNoChroot)
		answer()
		synctest.Wait()
		release(t, acquire(t, s))
	})
}

func TestSemaphoreAdmitsNobodyWhileItsLimitIsNoNumber(t *testing.T) {
	inBubble(t, func(t *testing.T, server *zktest.Server) {
		s := newLimited(t, server, 3)
		wantErr(t, server.SetData(limitPath, []byte("1")), nil)
		synctest.Wait()
		wantRefused(t, s, shared.ErrNotACount)
		wantErr(t, server.SetData(limitPath, limitOf(1)), nil)
		synctest.Wait()
		release(t, acquire(t, s))
	})
}

// One that waits for a lease fails at once, and does not keep others from the gate: they may have heard of a raise.
func TestWaiterFailsWhenItsLimitIsNotFollowedAnyMore(t *testing.T) {
	unreadable := func(t *testing.T, server *zktest.Server, s *limited, perms int32) {
		t.Helper()
		admin := framework.WithAuthorization("digest", []byte("admin:x"))
		acl := append(zk.WorldACL(perms), zk.DigestACL(zk.PermAll, "admin", "x")...)
		p := newPeer(t, server, admin)
		if _, err := p.SetACL(t.Context(), limitPath, acl, -1); err != nil {
			t.Fatal(err)
		}
		s.link.Reset() // servers do not report the change; the next connection reads the node
		time.Sleep(time.Second)
	}
	for name, c := range map[string]struct {
		lose   func(t *testing.T, server *zktest.Server, s *limited)
		regain func(t *testing.T, server *zktest.Server, s *limited)
		reason error
	}{
		"unreadable": {
			lose: func(t *testing.T, server *zktest.Server, s *limited) {
				unreadable(t, server, s, zk.PermAll&^zk.PermRead)
			},
			regain: func(t *testing.T, server *zktest.Server, s *limited) { unreadable(t, server, s, zk.PermAll) },
			reason: zk.ErrNoAuth,
		},
		"closed": {
			lose:   func(t *testing.T, _ *zktest.Server, s *limited) { wantErr(t, s.count.Close(), nil) },
			regain: func(t *testing.T, _ *zktest.Server, s *limited) { *s = *followLimit(t, s.peer, limitPath, 9) },
			reason: shared.ErrNotStarted,
		},
	} {
		t.Run(name, func(t *testing.T) {
			inBubble(t, func(t *testing.T, server *zktest.Server) {
				s, other := newLimited(t, server, 1), newLimited(t, server, 1)
				held := acquire(t, other)
				waiter := begin(t.Context(), t, s)
				behind := begin(t.Context(), t, s)
				next := begin(t.Context(), t, other)
				c.lose(t, server, s)
				synctest.Wait()
				for what, results := range map[string]<-chan result{"the first waiter": waiter, "the one behind it": behind} {
					select {
					case r := <-results:
						wantUnfollowed(t, what, r, c.reason)
					default:
						t.Errorf("%s waits, want an error: %v", what, c.reason)
					}
				}
				wantRefused(t, s, c.reason)
				isWaiting(t, next)
				other.setLimit(t, 2)
				release(t, (<-next).must(t))
				c.regain(t, server, s)
				settle()
				release(t, acquire(t, s))
				release(t, held)
			})
		})
	}
}

// It stands behind another client's waiter when its limit ends, and hears nothing of the lower one. By the old limit it
// would get a lease when it is first in line.
func TestWaiterAtTheGateFailsWhenItIsFirstAndItsLimitIsNotFollowed(t *testing.T) {
	inBubble(t, func(t *testing.T, server *zktest.Server) {
		s, other := newLimited(t, server, 3), newLimited(t, server, 3)
		held := acquireN(t, other.InterProcessSemaphoreV2, 3)
		next := begin(t.Context(), t, other)
		waiter := begin(t.Context(), t, s)
		wantErr(t, s.count.Close(), nil)
		isWaiting(t, waiter)
		other.setLimit(t, 1)
		wantErr(t, locks.ReleaseAll(held...), nil)
		lease := soon(t, next).must(t)
		wantUnfollowed(t, "the waiter", soon(t, waiter), shared.ErrNotStarted)
		release(t, lease)
	})
}

func TestWaiterFailsInAnOutageWhenItsLimitIsClosed(t *testing.T) {
	inBubble(t, func(t *testing.T, server *zktest.Server) {
		s, other := newLimited(t, server, 1), newLimited(t, server, 1)
		held := acquire(t, other)
		waiter := begin(t.Context(), t, s)
		s.link.Cut()
		time.Sleep(time.Second)
		began := time.Now()
		wantErr(t, s.count.Close(), nil)
		r := soon(t, waiter)
		wantUnfollowed(t, "the waiter", r, shared.ErrNotStarted)
		if took := r.at.Sub(began); took != 0 {
			t.Errorf("it took %v", took)
		}
		release(t, held)
	})
}
