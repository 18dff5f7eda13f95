package history_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"sync"
	"time"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/recipes/leader"
	"github.com/gocurator/curator/recipes/locks"
)

// use acquires locks at random.
func (p *play) use(client *framework.Client, random *rand.Rand) {
	rw := locks.NewInterProcessReadWriteLock(client, "/l/rw")
	semaphore := locks.NewInterProcessSemaphoreV2(client, "/l/semaphore", limit)
	all := []locks.Lock{locks.NewInterProcessMutex(client, "/l/mutex"), rw.ReadLock(), rw.WriteLock(), semaphore}
	for range 1 + random.IntN(4) {
		time.Sleep(time.Duration(random.IntN(500)) * time.Millisecond)
		ctx, cancel := context.WithTimeout(context.Background(), time.Duration(1+random.IntN(3000))*time.Millisecond)
		switch i := random.IntN(len(all) + 3); {
		case i < len(all):
			from := time.Now()
			lease, err := all[i].Acquire(ctx)
			p.held(from, lease, err, random)
		case i == len(all)+1:
			p.holdAll(ctx, semaphore, random)
		case i == len(all):
			p.lead(ctx, client, random)
		default:
			p.stand(ctx, client, random)
		}
		cancel()
	}
}

// held holds a lease for a while.
func (p *play) held(from time.Time, lease *locks.Lease, err error, random *rand.Rand) {
	if err != nil {
		p.mu.Lock()
		defer p.mu.Unlock()
		p.failed = append(p.failed, span{from, time.Now()})
		return
	}
	h := hold{name: lease.NodeName(), token: lease.FencingToken(), began: from, acquired: time.Now()}
	select {
	case <-time.After(time.Duration(random.IntN(1000)) * time.Millisecond):
	case <-lease.Done():
	case <-lease.RevocationRequested():
	}
	h.ended = time.Now()
	_ = lease.Release() // the loss is asked for
	h.lost = lease.Err() != nil && !errors.Is(lease.Err(), locks.ErrReleased)
	p.mu.Lock()
	defer p.mu.Unlock()
	p.holds = append(p.holds, h)
}

// holdAll holds all leases of a semaphore.
func (p *play) holdAll(ctx context.Context, semaphore *locks.InterProcessSemaphoreV2, random *rand.Rand) {
	from := time.Now()
	leases, err := semaphore.AcquireN(ctx, limit)
	if err != nil {
		p.held(from, nil, err, random)
		return
	}
	var holders sync.WaitGroup
	for _, lease := range leases {
		random := rand.New(rand.NewPCG(random.Uint64(), 7))
		holders.Go(func() { p.held(from, lease, nil, random) })
	}
	holders.Wait()
}

func (p *play) lead(ctx context.Context, client *framework.Client, random *rand.Rand) {
	from := time.Now()
	latch := leader.NewLeaderLatch(client, "/l/latch")
	if err := latch.Start(ctx); err != nil {
		p.held(from, nil, err, random)
		return
	}
	term, err := latch.Await(ctx)
	p.held(from, term, err, random)
	_ = latch.Close() // its node goes, or has gone
	p.mu.Lock()
	defer p.mu.Unlock()
	p.failed = append(p.failed, span{from, time.Now()}) // it may have stood again
}

// stand stands in the mutex's queue under a name of kazoo's, and heeds no turn.
func (p *play) stand(ctx context.Context, client *framework.Client, random *rand.Rand) {
	from := time.Now()
	name := fmt.Sprintf("/l/mutex/%032x__lock__", random.Uint64())
	node, _, err := client.Create(ctx, name, []byte("kazoo"), framework.CreatingParentsIfNeeded(), framework.WithMode(framework.EphemeralSequential))
	if err == nil {
		time.Sleep(time.Duration(random.IntN(500)) * time.Millisecond)
		_ = client.Delete(context.Background(), node, -1) // it may have gone
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.failed = append(p.failed, span{from, time.Now()})
}
