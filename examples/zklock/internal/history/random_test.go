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
	"github.com/gocurator/curator/examples/zklock/internal/survey"
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

func (p *play) history() *history.History {
	p.mu.Lock()
	defer p.mu.Unlock()
	return history.Of("/l", slices.Values(slices.Clone(p.executed)), history.Options{Limit: limit})
}

// compareNow compares who holds and who waits with what package survey reads at this moment, by the recipes.
func (p *play) compareNow(client *framework.Client, seed uint64) {
	for _, path := range []string{"/l/mutex", "/l/rw", "/l/semaphore", "/l/latch"} {
		before := p.count()
		lock, err := survey.Read(p.t.Context(), client, path)
		if err == nil && p.count() == before { // else it is of more than one moment, or the reader's session has ended
			p.compareWith(lock, seed)
		}
	}
}

func (p *play) count() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return len(p.executed)
}

func (p *play) compareWith(read *survey.Lock, seed uint64) {
	there := map[string]bool{}
	for _, lock := range p.history().Locks {
		for _, c := range lock.Contenders {
			if c.How == "" {
				there[c.Path] = c.LetIn.Zxid != 0
			}
		}
	}
	for _, c := range read.Contenders {
		in, known := there[c.Path]
		// The place at the gate of a client that has a lease is one contender with that. The client reads the leases
		// before it believes that its own counts.
		hasLease := func(other survey.Contender) bool { return other.Session == c.Session && other.State == survey.Next }
		// Of an acquire of two it takes the first for held.
		if c.State == survey.Next || read.Kind == "semaphore" && (!known || !in) && slices.ContainsFunc(read.Contenders, hasLease) {
			continue
		}
		if !known || in != c.In() {
			p.t.Errorf("seed %d: %s: got known %t and let in %t, want %s", seed, c.Path, known, in, c.State)
		}
		p.looks++
	}
}

// removedPlaces has the creations of the places at the semaphore's gate that were removed by hand. Clients that hear of
// it in time begin again.
func (p *play) removedPlaces() map[int64]bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	created, removed := map[string]int64{}, map[int64]bool{}
	for _, t := range p.executed {
		for _, c := range t.Changes {
			if c.Kind == txnlog.Created {
				created[c.Path] = t.Zxid
			} else if c.Kind == txnlog.Deleted && t.Session == 0 {
				removed[created[c.Path]] = true
			}
		}
	}
	return removed
}

// compare compares the whole history with the clients' records.
func (p *play) compare(seed uint64) {
	wrong := func(format string, args ...any) { p.t.Errorf("seed %d: "+format, append([]any{seed}, args...)...) }
	byName := map[string]history.Contender{}
	for _, lock := range p.history().Locks {
		for _, c := range lock.Contenders {
			byName[c.Node] = c
		}
		for _, a := range lock.Contenders {
			for _, b := range lock.Contenders {
				if lock.Kind != "semaphore" && a.Token < b.Token && overlap(a, b) && (!a.Kind.Shared() || !b.Kind.Shared()) {
					wrong("%s: %s and %s overlap", lock.Path, a.Node, b.Node)
				}
			}
		}
	}
	for _, lock := range p.history().Locks {
		if together := most(lock.Contenders); lock.Kind == "semaphore" && together > limit {
			wrong("%s: %d leases are in at one time, the limit is %d", lock.Path, together, limit)
		}
	}
	for _, h := range p.holds {
		c, ok := byName[h.name]
		delete(byName, h.name)
		switch {
		case !ok:
			wrong("%s is not in the history", h.name)
		case c.Token != h.token:
			wrong("%s: got the token %d, want %d", h.name, c.Token, h.token)
		case c.LetIn.Zxid == 0 || c.LetIn.At.After(h.acquired):
			wrong("%s: let in at %v, want before %v", h.name, c.LetIn, h.acquired)
		case c.How == "" || c.How == history.GaveUp || c.How == history.Closed,
			// before that, it let go without having heard of the end
			!h.lost && c.How != history.Released && c.Ended.At.After(h.ended):
			wrong("%s: got %q, and its client released it: %t", h.name, c.How, !h.lost)
		case c.How == history.Released && c.Ended.At.Before(h.ended.Truncate(time.Millisecond)):
			wrong("%s: ended at %v, before its client let go at %v", h.name, c.Ended.At, h.ended)
		}
	}
	removed := p.removedPlaces()
	for _, c := range byName { // those of which no client has a lease
		if c.LetIn.Zxid != 0 && !removed[c.Queued.Zxid] && !slices.ContainsFunc(p.failed, func(s span) bool { return s.has(c.Queued.At) }) {
			wrong("no client has acquired %s: %+v", c.Node, c)
		}
	}
	if len(p.holds) == 0 && len(p.failed) == 0 {
		wrong("nothing happened")
	}
}

func overlap(a, b history.Contender) bool {
	in := func(c history.Contender) bool { return c.LetIn.Zxid != 0 }
	return in(a) && in(b) && (a.Ended.Zxid == 0 || b.LetIn.Zxid < a.Ended.Zxid)
}

// most is how many contenders were in at one time.
func most(all []history.Contender) (most int) {
	for _, a := range all {
		together := 0
		for _, b := range all {
			if a.LetIn.Zxid != 0 && b.LetIn.Zxid != 0 && b.LetIn.Zxid <= a.LetIn.Zxid && (b.Ended.Zxid == 0 || a.LetIn.Zxid < b.Ended.Zxid) {
				together++
			}
		}
		most = max(most, together)
	}
	return most
}
