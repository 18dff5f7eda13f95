package locks_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"sync"
	"testing"
	"time"

	"github.com/gocurator/curator/framework/zktest"
	"github.com/gocurator/curator/recipes/locks"
)

// Clients with bad connections use semaphores and read/write locks, at random. What they believe to hold is counted at
// every moment; at the end nothing may be left, and no contender may wait for ever. A seed that fails may pass the next
// time: goroutines that are ready at one moment run in any order, and clients pause at random.

// A place is what locks protect.
type place struct {
	mu    sync.Mutex
	units map[*locks.Lease]int // the units of each lease that is in
	limit int
	err   error
}

// enter counts those whose leases last. A lease ends before anybody else can be let in, so that is what counts, and not
// whether its holder has left.
func (p *place) enter(lease *locks.Lease, units int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.units[lease] = units
	sum := 0
	for lease, units := range p.units {
		if lease.Err() == nil {
			sum += units
		} else {
			delete(p.units, lease)
		}
	}
	if sum > p.limit && p.err == nil {
		p.err = fmt.Errorf("%d are in, the limit is %d", sum, p.limit)
	}
}

func (p *place) leave(lease *locks.Lease) {
	p.mu.Lock()
	defer p.mu.Unlock()
	delete(p.units, lease)
}

// use holds a lease for some time, or until it ends.
func (p *place) use(lease *locks.Lease, units int, d time.Duration) {
	p.enter(lease, units)
	select {
	case <-time.After(d):
	case <-lease.Done():
	}
	p.leave(lease)
}

// trouble does something to a client's connection, again and again, until ctx ends.
func trouble(ctx context.Context, server *zktest.Server, p *peer, random *rand.Rand) {
	for ctx.Err() == nil {
		select {
		case <-time.After(time.Duration(random.IntN(4000)) * time.Millisecond):
		case <-ctx.Done():
			return
		}
		switch random.IntN(8) {
		case 0:
			p.link.Cut()
		case 1:
			p.link.Mute()
		case 2:
			p.link.Reset()
		case 3:
			p.cable.SetLatency(time.Duration(random.IntN(300)) * time.Millisecond)
		case 4, 5:
			if session, err := p.Session(ctx); err == nil {
				ops := []zktest.Op{zktest.OpCreate2, zktest.OpDelete, zktest.OpGetChildren2, zktest.OpMulti, zktest.OpGetData}
				match := zktest.Match{Op: ops[random.IntN(len(ops))], Session: session.ID(), Nth: 1 + random.IntN(3)}
				fault := []func(zktest.Match){server.DropReply, server.DropRequest}[random.IntN(2)]
				fault(match)
			}
		default:
		}
		select {
		case <-time.After(time.Duration(random.Int64N(int64(sessionTimeout)))):
		case <-ctx.Done():
		}
		p.link.Heal()
		p.cable.SetLatency(0)
	}
}

// chaos lets clients work for some time with bad connections. work is one round.
func chaos(t *testing.T, seed uint64, work func(ctx context.Context, p *peer, random *rand.Rand) error, dirs ...string) {
	t.Helper()
	inBubble(t, func(t *testing.T, server *zktest.Server) {
		const clients, workers = 3, 2
		ctx, stop := context.WithTimeout(t.Context(), 3*time.Minute)
		defer stop()
		var all sync.WaitGroup
		for c := range uint64(clients) {
			p := newPeer(t, server)
			all.Go(func() { trouble(ctx, server, p, rand.New(rand.NewPCG(seed, c))) })
			for w := range uint64(workers) {
				random := rand.New(rand.NewPCG(seed, 100*c+w+10))
				all.Go(func() {
					for ctx.Err() == nil {
						if err := work(ctx, p, random); err != nil && ctx.Err() == nil {
							t.Errorf("seed %d: %v", seed, err)
							stop()
						}
					}
				})
			}
		}
		all.Wait()
		time.Sleep(3 * sessionTimeout)
		for _, dir := range dirs {
			if left := nodes(server, dir, "_c_"); len(left) > 0 {
				t.Errorf("seed %d: %s has %v", seed, dir, left)
			}
		}
		if n := server.WatchCount(); n > 0 {
			t.Errorf("seed %d: %d watches are left", seed, n)
		}
	})
}

// ofTrouble are the failures that bad connections may end an acquire or a release with.
func ofTrouble(err error) bool {
	var unconfirmed *locks.ReleaseError
	return err == nil || errors.Is(err, locks.ErrLeaseLost) || errors.As(err, &unconfirmed)
}

const seeds = 5 // hundreds were tried
