package history_test

import (
	"flag"
	"math/rand/v2"
	"runtime/debug"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/gocurator/curator/examples/zklock/internal/history"
	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/framework/zktest"
)

var (
	histories = flag.Int("histories", 40, "how many random histories are compared with what clients record: with GOMAXPROCS=1, "+
		"which saves the waking of threads, a hundred a second")
	firstSeed = flag.Uint64("seed", 1, "the first seed of the random histories")
)

// limit is that of the semaphores.
const limit = 2

// A hold is what a client records of one: when Acquire had returned, and when it called Release or learned of the loss.
type hold struct {
	name     string
	token    int64
	began    time.Time // when Acquire was called
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
	executed []zktest.Transaction
	holds    []hold
	failed   []span // acquires that returned no lease
	looks    int    // contenders that were compared with what package survey reads

	built   *history.History // the last one, for the goroutine of the test alone
	builtOf int              // how many transactions it is built of
}

type span struct{ from, to time.Time }

// has takes times of servers, which are in milliseconds.
func (s span) has(at time.Time) bool {
	return !at.Before(s.from.Truncate(time.Millisecond)) && !at.After(s.to)
}

// collectLess lets more garbage pile up until the end of a test: each connection of the driver allocates 3 MB of
// buffers, so that collecting took most of the time.
func collectLess(t *testing.T) {
	t.Helper()
	before := debug.SetGCPercent(400)
	t.Cleanup(func() { debug.SetGCPercent(before) })
}

func TestHistoriesAreWhatClientsRecord(t *testing.T) {
	collectLess(t)
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
	p.server.ObserveTransactions(func(t zktest.Transaction) {
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

// transactions are what was executed so far: ended clients may still be closing their sessions.
func (p *play) transactions() []zktest.Transaction {
	p.mu.Lock()
	defer p.mu.Unlock()
	return slices.Clone(p.executed)
}

// history is that of what was executed so far.
func (p *play) history() *history.History {
	if all := p.transactions(); p.built == nil || p.builtOf != len(all) {
		p.built, p.builtOf = history.Of("/l", slices.Values(all), history.Options{Limit: limit}), len(all)
	}
	return p.built
}
