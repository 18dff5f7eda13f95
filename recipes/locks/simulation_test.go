package locks_test

import (
	"context"
	"flag"
	"fmt"
	"math/rand/v2"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/framework/zktest"
	"github.com/gocurator/curator/recipes/locks"
	"github.com/gocurator/curator/recipes/locks/lockstest"
	"github.com/gocurator/curator/retry"
)

var (
	simulationSeed  = flag.Uint64("seed", 0, "try this seed of the simulation alone, and log its history")
	simulationSeeds = flag.Int("seeds", 100, "how many seeds the simulation tries of each kind")
)

// A simulation is a random schedule of workers that acquire, hold, cancel and release, and of faults that befall them.
// Everything that happens is recorded, and the whole checked against the guarantees at the end.
type simulation struct {
	t        *testing.T
	seed     uint64
	ensemble *zktest.Ensemble
	peers    []*peer
	kind

	mu      sync.Mutex
	owners  int
	history []hold
	log     []string
}

// An actor makes choices of its own: what others do at the same moment does not change them.
type actor struct {
	*simulation
	rand *rand.Rand
}

func (s *simulation) actor(n int) actor {
	return actor{s, rand.New(rand.NewPCG(s.seed, uint64(n)))}
}

// A hold is one grant: from the return of Acquire to the call of Release, or to the loss.
type hold struct {
	who        string
	owner      int // of this hold and those nested in it
	shared     bool
	node       string
	token      int64
	count      int64
	begin, end time.Time
	lost       error
}

// A kind of simulation.
type kind struct {
	faulty  bool
	local   bool          // more workers, and short holds
	idle    time.Duration // with retained locks, and how long their nodes stay idle
	retain  bool
	mixed   bool // readers and writers beside the mutex, on the same path
	servers int
}

func TestSimulation(t *testing.T) {
	for name, kind := range map[string]kind{
		"calm":                {servers: 1},
		"calm, mixed":         {servers: 1, mixed: true},
		"calm, retained":      {servers: 1, local: true, retain: true},
		"calm, idle":          {servers: 1, local: true, retain: true, idle: 100 * time.Millisecond},
		"calm, mixed, idle":   {servers: 1, local: true, mixed: true, retain: true, idle: 100 * time.Millisecond},
		"stormy, retained":    {servers: 1, faulty: true, local: true, retain: true},
		"stormy, idle":        {servers: 1, faulty: true, local: true, retain: true, idle: 100 * time.Millisecond},
		"stormy, mixed, idle": {servers: 3, faulty: true, local: true, mixed: true, retain: true, idle: 2 * time.Second},
		"stormy":              {servers: 1, faulty: true},
		"stormy, mixed":       {servers: 3, faulty: true, mixed: true},
	} {
		t.Run(name, func(t *testing.T) {
			if *simulationSeed != 0 {
				simulate(t, *simulationSeed, kind)
				return
			}
			for seed := uint64(1); seed <= uint64(*simulationSeeds) && !t.Failed(); seed++ {
				simulate(t, seed, kind)
			}
		})
	}
}

func simulate(t *testing.T, seed uint64, kind kind) {
	zktest.Bubble(t, func(t *testing.T) {
		version := []string{"3.8.6", "3.9.5"}[seed%2]
		s := &simulation{t: t, seed: seed, kind: kind, ensemble: zktest.NewEnsemble(kind.servers, zktest.WithVersion(version))}
		t.Cleanup(func() { _ = s.ensemble.Close() })
		s.run()
		s.check()
		if t.Failed() || *simulationSeed != 0 {
			t.Logf("history:\n%s", strings.Join(s.log, "\n"))
			t.Logf("try again with: go test ./recipes/locks -run 'TestSimulation' -seed %d -count 20", seed)
		}
	})
}

func (s *simulation) run() {
	director := s.actor(0)
	for range 2 + director.pick(4) {
		s.peers = append(s.peers, director.newPeer())
	}
	most := 2
	if s.local {
		most = 5
	}
	stop := make(chan struct{})
	var workers, weather sync.WaitGroup
	for i, p := range s.peers {
		for j := range 1 + director.pick(most) {
			worker := s.actor(2 + most*i + j)
			workers.Go(func() { worker.work(fmt.Sprintf("%c%d", 'A'+i, j), p) })
		}
	}
	if s.faulty {
		weather.Go(func() { s.actor(1).storm(stop) })
	}
	done := make(chan struct{})
	go func() { workers.Wait(); close(done) }()
	select {
	case <-done:
	case <-time.After(6 * time.Hour):
		s.t.Errorf("seed %d: a contender waits for ever; nodes %v", s.seed, s.ensemble.Leader().Children(path))
	}
	close(stop)
	weather.Wait()
	s.heal()
	s.checkResidue()
	for _, p := range s.peers {
		_ = p.Close()
	}
	<-done
}

func (s actor) newPeer() *peer {
	p := &peer{cable: s.ensemble.NewLink()}
	p.link = lockstest.NewLink(strings.Join(s.ensemble.Addrs(), ","), p.cable.DialContext)
	client, err := framework.NewClient(strings.Join(s.ensemble.Addrs(), ","), framework.WithDialer(p.link.DialContext),
		framework.WithSessionTimeout(sessionTimeout), framework.WithConnectionTimeout(3*time.Second),
		framework.WithRetryPolicy(retry.NTimes(3, 10*time.Millisecond)))
	if err != nil {
		s.t.Fatal(err)
	}
	p.Client = client
	p.cable.SetLatency(time.Duration(s.pick(20)) * time.Millisecond)
	return p
}

// work acquires and releases some times.
func (s actor) work(who string, p *peer) {
	for range 4 + s.pick(8) {
		if s.retain && s.pick(2) == 0 {
			s.pause(max(s.idle, 2*time.Millisecond))
		} else {
			s.pause(time.Second)
		}
		ctx, cancel := context.WithCancel(s.t.Context())
		if s.pick(4) == 0 { // it will not wait for ever
			ctx, cancel = context.WithTimeout(s.t.Context(), time.Duration(s.pick(4000))*time.Millisecond)
		}
		owner := s.newOwner()
		lock, shared := s.lock(p)
		acquire := lock.Acquire
		if s.pick(5) == 0 {
			acquire = lock.TryAcquire
		}
		lease, err := acquire(ctx)
		if err != nil {
			s.note("%s: %v", who, err)
		} else {
			nested := s.downgrade(lease.Context(ctx), who, owner, lock, p)
			s.hold(who, owner, shared, lease)
			<-nested
		}
		cancel()
	}
}

// lock chooses one.
func (s actor) lock(p *peer) (lock locks.Lock, shared bool) {
	if !s.mixed {
		return s.retained(p.mutex()), false
	}
	rw := locks.NewInterProcessReadWriteLock(p.Client, path)
	switch s.pick(3) {
	case 0:
		return s.retained(p.mutex()), false
	case 1:
		return rw.ReadLock(), true
	default:
		return s.retained(rw.WriteLock()), false
	}
}

// retained retains a lock, mostly, if the simulation is about that. The others contend beside the local queue, and
// those with other options in another one.
func (s actor) retained(lock locks.Lock) locks.Lock {
	if !s.retain {
		return lock
	}
	switch s.pick(10) {
	case 0:
		return lock
	case 1:
		return locks.Retain(lock, locks.Idle(s.idle), locks.Most(3), locks.AfterDemand(2))
	default:
		return locks.Retain(lock, locks.Idle(s.idle))
	}
}

// downgrade takes the read lock within a write lock, now and then, and holds it for as long as it likes.
func (s actor) downgrade(ctx context.Context, who string, owner int, lock locks.Lock, p *peer) (done <-chan struct{}) {
	over := make(chan struct{})
	writes := strings.Contains(fmt.Sprint(lock), "write lock")
	if !writes || s.pick(2) == 0 {
		close(over)
		return over
	}
	reader := actor{s.simulation, rand.New(rand.NewPCG(s.seed, uint64(s.pick(1<<30))))}
	go func() {
		defer close(over)
		lease, err := locks.NewInterProcessReadWriteLock(p.Client, path).ReadLock().Acquire(ctx)
		if err != nil {
			s.note("%s does not read on: %v", who, err)
			return
		}
		reader.hold(who, owner, true, lease)
	}()
	return over
}

func (s *simulation) newOwner() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.owners++
	return s.owners
}

func (s actor) hold(who string, owner int, shared bool, lease *locks.Lease) {
	h := hold{
		who: who, owner: owner, shared: shared, begin: time.Now(),
		node: lease.NodeName(), token: lease.FencingToken(), count: lease.LocalCount(),
	}
	s.note("%s holds %s", who, h.node[39:])
	select {
	case <-lease.Done():
	case <-time.After(s.howLong()):
	}
	h.end = time.Now()
	h.lost = lease.Err()
	if until := lease.ValidUntil(); h.lost != nil && until.Before(h.end) {
		s.t.Errorf("seed %d: %s heard at %v of the end at %v", s.seed, who, h.end, until)
	}
	s.mu.Lock()
	s.history = append(s.history, h)
	s.mu.Unlock()
	err := lease.Release()
	s.note("%s releases %s: %v", who, h.node[39:], err)
}

func (s actor) howLong() time.Duration {
	most := 3000
	if s.local && s.pick(5) > 0 {
		most = 50
	}
	return time.Duration(s.pick(most)) * time.Millisecond
}

func (s actor) pick(n int) int { return s.rand.IntN(n) }

func (s actor) pause(most time.Duration) {
	time.Sleep(time.Duration(s.pick(int(most/time.Millisecond))) * time.Millisecond)
}

func (s *simulation) note(format string, args ...any) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.log = append(s.log, time.Now().Format("04:05.000000 ")+fmt.Sprintf(format, args...))
}
