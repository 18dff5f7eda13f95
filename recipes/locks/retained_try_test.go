package locks_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/framework/zktest"
	"github.com/gocurator/curator/recipes/locks"
)

// heldBack returns a retained lock whose node is held back for a round trip, and the last lease that had it.
func heldBack(t *testing.T, server *zktest.Server, opts ...locks.RetainOption) (*peer, *locks.RetainedLock, *locks.Lease) {
	t.Helper()
	p := newPeer(t, server)
	p.cable.SetLatency(oneWay)
	lock, last := idling(t, p, append(opts, locks.RetainHandOvers(0))...)
	return p, lock, last
}

// beginTry tries on another goroutine.
func beginTry(ctx context.Context, lock locks.Lock) <-chan result {
	results := make(chan result, 1)
	go func() {
		lease, err := lock.TryAcquire(ctx)
		results <- result{lease, err, time.Now()}
	}()
	synctest.Wait()
	return results
}

// While a node is held back it is not known whether another client waits. A try waits for the listing that says so.
func TestTryAcquireOfAHeldBackNodeTakesIt(t *testing.T) {
	inRetainedBubble(t, func(t *testing.T, server *zktest.Server) {
		_, lock, last := heldBack(t, server)
		begun := time.Now()
		lease, err := lock.TryAcquire(t.Context())
		if err != nil {
			t.Fatalf("got %v, want a lease: no other contender is there", err)
		}
		wantHandedOver(t, last, lease)
		if got := time.Since(begun); got != roundTrip {
			t.Errorf("it waited for %v, want %v", got, roundTrip)
		}
	})
}

func TestTryAcquireOfAHeldBackNodeThatOthersWant(t *testing.T) {
	for name, begin := range map[string]func(t *testing.T, other *peer, lock locks.Lock) <-chan result{
		"another client": func(t *testing.T, other *peer, _ locks.Lock) <-chan result {
			return begin(t.Context(), t, other.mutex())
		},
		"this client": func(t *testing.T, _ *peer, lock locks.Lock) <-chan result {
			return begin(t.Context(), t, lock)
		},
		"another try": func(t *testing.T, _ *peer, lock locks.Lock) <-chan result {
			return beginTry(t.Context(), lock)
		},
	} {
		t.Run(name, func(t *testing.T) {
			inRetainedBubble(t, func(t *testing.T, server *zktest.Server) {
				other := newPeer(t, server)
				_, lock, _ := heldBack(t, server, locks.RetainAfterDemand(1))
				contender := begin(t, other, lock)
				_, err := lock.TryAcquire(t.Context())
				wantErr(t, err, locks.ErrNotAcquired)
				lease := soon(t, contender).must(t)
				_, err = lock.TryAcquire(t.Context())
				wantErr(t, err, locks.ErrNotAcquired)
				release(t, lease)
			})
		})
	}
}

var errUnreachable = errors.New("a ConnectError")

// What comes while a try waits for the listing.
func TestTryAcquireOfAHeldBackNode(t *testing.T) {
	for name, test := range map[string]struct {
		comes func(t *testing.T, server *zktest.Server, p *peer, last *locks.Lease, cancel func())
		want  error // nil: a node of its own
	}{
		"ctx ends": {func(_ *testing.T, _ *zktest.Server, _ *peer, _ *locks.Lease, cancel func()) { cancel() }, context.Canceled},
		"the node is lost": {func(t *testing.T, server *zktest.Server, _ *peer, last *locks.Lease, _ func()) {
			time.Sleep(60 * time.Millisecond) // it is watched
			remove(t, server, path+"/"+last.NodeName())
		}, nil},
		"the session ends": {func(t *testing.T, server *zktest.Server, p *peer, _ *locks.Lease, _ func()) {
			expire(server, sessionID(t, p))
		}, nil},
		"the listing takes too long": {func(*testing.T, *zktest.Server, *peer, *locks.Lease, func()) { time.Sleep(time.Second) }, nil},
		"no answer comes": {func(_ *testing.T, _ *zktest.Server, p *peer, _ *locks.Lease, _ func()) {
			p.link.Mute()
		}, errUnreachable},
	} {
		t.Run(name, func(t *testing.T) {
			inRetainedBubble(t, func(t *testing.T, server *zktest.Server) {
				p := newPeer(t, server)
				lock := retained(p, locks.RetainIdle(idle), locks.RetainHandOvers(0), locks.RetainBusy(500*time.Millisecond))
				for range 2 {
					release(t, acquire(t, lock))
				}
				last := acquire(t, lock)
				p.cable.SetLatency(400 * time.Millisecond)
				release(t, last)
				ctx, cancel := context.WithCancel(t.Context())
				defer cancel()
				tried := beginTry(ctx, lock)
				isWaiting(t, tried)
				test.comes(t, server, p, last, cancel)
				r := soon(t, tried)
				if unreachable := new(framework.ConnectError); errors.As(r.err, &unreachable) {
					r.err = errUnreachable
				}
				if wantErr(t, r.err, test.want); test.want == nil {
					wantOwnNode(t, last, r.lease)
					release(t, r.lease)
				}
				p.link.Heal()
				settle()
			})
		})
	}
}
