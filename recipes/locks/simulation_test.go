package locks_test

import (
	"context"
	"flag"
	"fmt"
	"math"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/gocurator/curator/framework/zktest"
	"github.com/gocurator/curator/recipes/internal/sampletest"
	"github.com/gocurator/curator/recipes/internal/simtest"
	"github.com/gocurator/curator/recipes/locks"
)

// enoughSeeds bring out each kind of step.
const enoughSeeds = 30

var (
	simulationSeed  = flag.Uint64("seed", 0, "try this seed of the simulation alone, and log its history")
	simulationSeeds = flag.Int("seeds", enoughSeeds, "how many seeds the simulation tries of each kind")
)

// A simulation is a random schedule of workers that acquire, hold, cancel and release, and of faults that befall them.
// Everything that happens is recorded, and the whole checked against the guarantees at the end.
type simulation struct {
	*simtest.Env
	kind

	mu      sync.Mutex
	owners  int
	history []hold
}

// An actor is a worker, with choices of its own.
type actor struct {
	*simulation
	simtest.Dice
}

func (s *simulation) actor(n int) actor { return actor{s, s.Dice(n)} }

// A hold is one grant: from the return of Acquire to the call of Release, or to the loss.
type hold struct {
	who        string
	owner      int // owns this hold and those nested in it
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
	mixed   bool  // readers and writers beside the mutex, on the same path
	alone   bool  // clients come seldom, and then acquire often
	numbers int32 // how many of the directory's numbers are used up when the simulation begins
	servers int
}

func TestSimulation(t *testing.T) {
	kinds := map[string]kind{
		"calm":                {servers: 1},
		"calm, mixed":         {servers: 1, mixed: true},
		"calm, alone":         {servers: 1, alone: true, mixed: true},
		"calm, last numbers":  {servers: 1, numbers: math.MaxInt32 - 1<<16 - 10},
		"calm, retained":      {servers: 1, local: true, retain: true},
		"calm, idle":          {servers: 1, local: true, retain: true, idle: 100 * time.Millisecond},
		"calm, mixed, idle":   {servers: 1, local: true, mixed: true, retain: true, idle: 100 * time.Millisecond},
		"stormy, retained":    {servers: 1, faulty: true, local: true, retain: true},
		"stormy, idle":        {servers: 1, faulty: true, local: true, retain: true, idle: 100 * time.Millisecond},
		"stormy, mixed, idle": {servers: 3, faulty: true, local: true, mixed: true, retain: true, idle: 2 * time.Second},
		"stormy":              {servers: 1, faulty: true},
		"stormy, alone":       {servers: 3, faulty: true, alone: true, mixed: true},
		"stormy, mixed":       {servers: 3, faulty: true, mixed: true},
	}
	sample, ran, seen := sampletest.New(t, "seed", "seeds"), 0, simtest.Seen{}
	for name, kind := range kinds {
		t.Run(name, func(t *testing.T) {
			ran++
			if *simulationSeed != 0 {
				simulate(t, *simulationSeed, kind, seen)
				return
			}
			for _, i := range sample.Part(*simulationSeeds, 3) {
				if t.Failed() {
					return
				}
				simulate(t, uint64(i)+1, kind, seen)
			}
		})
	}
	// A third of the seeds may lack a rare one.
	if !sample.All() || ran < len(kinds) || *simulationSeed != 0 || *simulationSeeds < enoughSeeds {
		return
	}
	if missing := seen.Missing(); len(missing) > 0 {
		t.Errorf("got no %q in any simulation, want some of each", missing)
	}
}

func simulate(t *testing.T, seed uint64, kind kind, seen simtest.Seen) {
	zktest.Bubble(t, func(t *testing.T) {
		s := &simulation{Env: simtest.New(t, seed, kind.servers, path), kind: kind}
		s.run()
		s.check()
		seen.Add(s.Env)
		if t.Failed() || *simulationSeed != 0 {
			s.LogHistory("./recipes/locks")
		}
	})
}

func (s *simulation) run() {
	scenario := s.Dice(0)
	if s.numbers > 0 {
		for _, dir := range []string{"/locks", path} {
			if err := s.Ensemble.Leader().Create(dir, nil); err != nil {
				s.T.Fatal(err)
			}
		}
		s.Ensemble.Leader().SetCreateCounter(path, s.numbers)
	}
	for range 2 + scenario.Pick(4) {
		s.AddPeer(scenario.Some(20 * time.Millisecond))
	}
	most := 2
	if s.local {
		most = 5
	}
	var workers sync.WaitGroup
	for i, p := range s.Peers {
		for j := range 1 + scenario.Pick(most) {
			worker := s.actor(2 + most*i + j)
			workers.Go(func() { worker.work(fmt.Sprintf("%c%d", 'A'+i, j), p) })
		}
	}
	s.Run(&workers, s.faulty)
}

// work acquires and releases some times.
func (s actor) work(who string, p *simtest.Peer) {
	times := 4 + s.Pick(8)
	if s.alone {
		s.pause(20 * time.Second)
		times *= 3
	}
	for range times {
		if s.alone {
			s.pause(50 * time.Millisecond)
		} else if s.retain && s.Pick(2) == 0 {
			s.pause(max(s.idle, 2*time.Millisecond))
		} else {
			s.pause(time.Second)
		}
		ctx, cancel := context.WithCancel(s.T.Context())
		if s.Pick(4) == 0 { // it will not wait for ever
			ctx, cancel = context.WithTimeout(s.T.Context(), s.Some(4*time.Second))
		}
		owner := s.newOwner()
		lock, shared := s.lock(p)
		acquire := lock.Acquire
		if s.Pick(5) == 0 {
			acquire = lock.TryAcquire
		}
		lease, err := acquire(ctx)
		if err != nil {
			s.Note(who, "%v", err)
		} else {
			nested := s.downgrade(lease.Context(ctx), who, owner, lock, p)
			s.hold(who, owner, shared, lease)
			<-nested
		}
		cancel()
	}
}

// lock chooses one.
func (s actor) lock(p *simtest.Peer) (lock locks.Lock, shared bool) {
	if !s.mixed {
		return s.retained(locks.NewInterProcessMutex(p.Client, path)), false
	}
	rw := locks.NewInterProcessReadWriteLock(p.Client, path)
	switch s.Pick(3) {
	case 0:
		return s.retained(locks.NewInterProcessMutex(p.Client, path)), false
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
	switch s.Pick(10) {
	case 0:
		return lock
	case 1:
		return retaining(lock, locks.RetainIdle(s.idle), locks.RetainHandOvers(3), locks.RetainAfterDemand(2))
	default:
		return retaining(lock, locks.RetainIdle(s.idle))
	}
}

// downgrade takes the read lock within a write lock, now and then, and holds it for as long as it likes.
func (s actor) downgrade(ctx context.Context, who string, owner int, lock locks.Lock, p *simtest.Peer) (done <-chan struct{}) {
	over := make(chan struct{})
	writes := strings.Contains(fmt.Sprint(lock), "write lock")
	if !writes || s.Pick(2) == 0 {
		close(over)
		return over
	}
	reader := s.actor(s.Pick(1 << 30))
	go func() {
		defer close(over)
		lease, err := locks.NewInterProcessReadWriteLock(p.Client, path).ReadLock().Acquire(ctx)
		if err != nil {
			s.Note(who, "does not read on: %v", err)
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
		node: lease.NodeName(), token: lease.FencingToken(), count: lease.FencingCount(),
	}
	s.Note(who, "holds %s", h.node[39:])
	if s.Pick(4) == 0 {
		lease.Contended()
	}
	select {
	case <-lease.Done():
	case <-time.After(s.howLong()):
	}
	h.end = time.Now()
	h.lost = lease.Err()
	if until := lease.ValidUntil(); h.lost != nil && until.Before(h.end) {
		s.T.Errorf("seed %d: %s heard at %v of the end at %v", s.Seed, who, h.end, until)
	}
	s.mu.Lock()
	s.history = append(s.history, h)
	s.mu.Unlock()
	err := lease.Release()
	s.Note(who, "releases %s: %v", h.node[39:], err)
}

func (s actor) howLong() time.Duration {
	most := 3 * time.Second
	if s.alone {
		return s.Some(20 * time.Millisecond)
	}
	if s.local && s.Pick(5) > 0 {
		most = 50 * time.Millisecond
	}
	return s.Some(most)
}

func (s actor) pause(most time.Duration) { time.Sleep(s.Some(most)) }
