package history_test

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/gocurator/curator/examples/zklock/internal/history"
	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/framework/zktest"
	"github.com/gocurator/curator/framework/zktest/txnlog"
	"github.com/gocurator/curator/recipes/leader"
	"github.com/gocurator/curator/recipes/locks"
)

var (
	histories = flag.Int("histories", 40, "how many random histories are compared with what clients record")
	firstSeed = flag.Uint64("seed", 1, "the first seed of the random histories")
)

// limit is that of the semaphores.
const limit = 2

// A hold is what a client records of one: when Acquire had returned, and when it called Release or learned of the loss.
type hold struct {
	name     string
	token    int64
	acquired time.Time
	ended    time.Time
	lost     bool
}

// A play is random clients at random locks, and what came of it.
type play struct {
	t      *testing.T
	server *zktest.Server
	random *rand.Rand // for the goroutine of the test alone
	begun  time.Time

	mu       sync.Mutex
	executed []txnlog.Transaction
	holds    []hold
	failed   []span // acquires that returned no lease
	looks    int    // contenders that were compared with what package survey reads
}

type span struct{ from, to time.Time }

// has takes times of servers, which are in milliseconds.
func (s span) has(at time.Time) bool {
	return !at.Before(s.from.Truncate(time.Millisecond)) && !at.After(s.to)
}

func TestHistoriesAreWhatClientsRecord(t *testing.T) {
	seen, looks := map[history.How]int{}, 0
	for i := range *histories {
		seed := *firstSeed + uint64(i)
		zktest.Bubble(t, func(t *testing.T) {
			p := playRandom(t, seed)
			p.compare(seed)
			looks += p.looks
			for _, lock := range p.history().Locks {
				for _, c := range lock.Contenders {
					seen[c.How]++
				}
			}
		})
		if t.Failed() {
			t.Fatalf("seed %d", seed)
		}
	}
	for _, how := range []history.How{history.Released, history.GaveUp, history.Expired, history.Removed} {
		if seen[how] == 0 {
			t.Errorf("%d histories have no contender that ended as %q: %v", *histories, how, seen)
		}
	}
	if looks == 0 {
		t.Error("no contender was compared with what the recipes read")
	}
	t.Logf("%d histories: %v; %d contenders compared while they were there", *histories, seen, looks)
}

func playRandom(t *testing.T, seed uint64) *play {
	t.Helper()
	p := &play{t: t, server: zktest.New(t), random: rand.New(rand.NewPCG(seed, 7)), begun: time.Now()}
	p.server.ObserveTransactions(func(t txnlog.Transaction) {
		p.mu.Lock()
		defer p.mu.Unlock()
		p.executed = append(p.executed, t)
	})
	observer := p.client()
	var users sync.WaitGroup
	for range 2 + p.random.IntN(3) {
		client := p.client()
		for range 1 + p.random.IntN(3) {
			random := rand.New(rand.NewPCG(seed, p.random.Uint64()))
			users.Go(func() { p.use(client, random) })
		}
	}
	for range 2 + p.random.IntN(5) {
		time.Sleep(time.Duration(p.random.IntN(2000)) * time.Millisecond)
		p.trouble()
		synctest.Wait()
		p.compareNow(observer, seed)
	}
	users.Wait()
	return p
}

func (p *play) client() *framework.Client {
	client, err := framework.NewClient("any:2181", framework.WithDialer(p.server.DialContext), framework.WithSessionTimeout(4*time.Second))
	if err != nil {
		p.t.Fatal(err)
	}
	p.t.Cleanup(func() { _ = client.Close() })
	return client
}

// trouble ends a session, or removes or asks a contender.
func (p *play) trouble() {
	sessions := p.server.Sessions()
	switch p.random.IntN(5) {
	case 0:
		if len(sessions) > 0 {
			p.server.ExpireSession(sessions[p.random.IntN(len(sessions))].ID)
		}
	case 1, 2:
		dir := []string{"/l/mutex", "/l/rw", "/l/semaphore/leases", "/l/semaphore/locks"}[p.random.IntN(4)]
		children := p.server.Children(dir)
		if len(children) == 0 {
			return
		}
		node := dir + "/" + children[p.random.IntN(len(children))]
		if p.random.IntN(2) == 0 {
			_ = p.server.Delete(node) // it may have gone
		} else {
			_ = p.server.SetData(node, []byte("__REVOKE__")) // likewise
		}
	}
}

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
	h := hold{name: lease.NodeName(), token: lease.FencingToken(), acquired: time.Now()}
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

// transactions are what was executed so far: ended clients may still be closing their sessions.
func (p *play) transactions() []txnlog.Transaction {
	p.mu.Lock()
	defer p.mu.Unlock()
	return slices.Clone(p.executed)
}

func (p *play) history() *history.History {
	return history.Of("/l", slices.Values(p.transactions()), history.Options{Limit: limit})
}
