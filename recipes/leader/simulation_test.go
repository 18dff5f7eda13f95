package leader_test

import (
	"cmp"
	"flag"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/framework/zktest"
	"github.com/gocurator/curator/recipes/locks/lockstest"
	"github.com/gocurator/curator/retry"
)

var (
	simulationSeed  = flag.Uint64("seed", 0, "try this seed of the simulation alone, and log its history")
	simulationSeeds = flag.Int("seeds", 50, "how many seeds the simulation tries of each kind")
)

// A simulation is a random schedule of an election's participants and of faults that befall them. What they do is
// recorded, and checked against the guarantees at the end.
type simulation struct {
	t        *testing.T
	seed     uint64
	ensemble *zktest.Ensemble
	servers  int
	faulty   bool
	peers    []*simulated

	mu    sync.Mutex
	terms []office
	leads map[string]func() bool // HasLeadership of each participant
	log   []string
}

// A simulated is a client with a network path of its own.
type simulated struct {
	*framework.Client
	link *lockstest.Link
}

// An office is a term: from the beginning of the leader's work to its end.
type office struct {
	who        string
	token      int64
	begin, end time.Time
	lost       error
}

// An actor makes choices of its own: what others do at the same moment does not change them.
type actor struct {
	*simulation
	rand *rand.Rand
}

func (s *simulation) actor(n int) actor { return actor{s, rand.New(rand.NewPCG(s.seed, uint64(n)))} }

func (a actor) pick(n int) int { return a.rand.IntN(n) }

func (a actor) some(most time.Duration) time.Duration {
	return time.Duration(a.rand.Int64N(int64(most)))
}

func TestSimulation(t *testing.T) {
	for name, kind := range map[string]struct {
		servers int
		faulty  bool
	}{
		"calm":             {servers: 1},
		"stormy":           {servers: 1, faulty: true},
		"stormy, of three": {servers: 3, faulty: true},
	} {
		for recipe, stand := range map[string]func(a actor, who string, p *simulated){
			"selectors": actor.runSelector, "latches": actor.runLatch,
		} {
			t.Run(name+", "+recipe, func(t *testing.T) {
				first, last := uint64(1), uint64(*simulationSeeds)
				if *simulationSeed != 0 {
					first, last = *simulationSeed, *simulationSeed
				}
				terms, lost := 0, 0
				for seed := first; seed <= last && !t.Failed(); seed++ {
					all, some := simulate(t, seed, kind.servers, kind.faulty, stand)
					terms, lost = terms+all, lost+some
				}
				if last-first >= 20 && (lost > 0) != kind.faulty {
					t.Errorf("%d of %d terms were lost", lost, terms)
				}
				t.Logf("%d terms, %d of them lost", terms, lost)
			})
		}
	}
}

func simulate(
	t *testing.T, seed uint64, servers int, faulty bool, stand func(a actor, who string, p *simulated),
) (terms, lost int) {
	zktest.Bubble(t, func(t *testing.T) {
		version := []string{"3.8.6", "3.9.5"}[seed%2]
		s := &simulation{
			t: t, seed: seed, servers: servers, faulty: faulty, leads: map[string]func() bool{},
			ensemble: zktest.NewEnsemble(servers, zktest.WithVersion(version)),
		}
		t.Cleanup(func() { _ = s.ensemble.Close() })
		s.run(stand)
		s.check()
		if t.Failed() || *simulationSeed != 0 {
			t.Logf("history:\n%s", strings.Join(s.log, "\n"))
			t.Logf("try again with: go test ./recipes/leader -run TestSimulation -seed %d -count 20", seed)
		}
		for _, o := range s.terms {
			if terms++; o.lost != nil {
				lost++
			}
		}
	})
	return terms, lost
}

func (s *simulation) run(stand func(a actor, who string, p *simulated)) {
	director := s.actor(0)
	for range 2 + director.pick(3) {
		s.peers = append(s.peers, s.newPeer(director.some(20*time.Millisecond)))
	}
	var working, weather sync.WaitGroup
	for i, p := range s.peers {
		for j := range 1 + director.pick(2) {
			a := s.actor(2 + 2*i + j)
			working.Go(func() { stand(a, fmt.Sprintf("%c%d", 'A'+i, j), p) })
		}
	}
	stop, done := make(chan struct{}), make(chan struct{})
	if s.faulty {
		weather.Go(func() { s.actor(1).storm(stop) })
	}
	go func() { working.Wait(); close(done) }()
	select {
	case <-done:
	case <-time.After(6 * time.Hour):
		s.t.Errorf("seed %d: a participant waits for ever; nodes %v", s.seed, s.ensemble.Leader().Children(path))
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

func (s *simulation) newPeer(latency time.Duration) *simulated {
	cable, servers := s.ensemble.NewLink(), strings.Join(s.ensemble.Addrs(), ",")
	cable.SetLatency(latency)
	p := &simulated{link: lockstest.NewLink(servers, cable.DialContext)}
	client, err := framework.NewClient(servers, framework.WithDialer(p.link.DialContext), framework.WithSessionTimeout(sessionTimeout),
		framework.WithConnectionTimeout(3*time.Second), framework.WithRetryPolicy(retry.NTimes(3, 10*time.Millisecond)))
	if err != nil {
		s.t.Fatal(err)
	}
	p.Client = client
	return p
}

func (s *simulation) joined(who string, leads func() bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.leads[who] = leads
}

func (s *simulation) note(format string, args ...any) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.log = append(s.log, time.Now().Format("04:05.000000 ")+fmt.Sprintf(format, args...))
}

// check checks the history: G1 and G2 in one, since a term ends when its leader knows; G9.
func (s *simulation) check() {
	slices.SortFunc(s.terms, func(a, b office) int {
		return cmp.Or(a.begin.Compare(b.begin), cmp.Compare(a.token, b.token))
	})
	for i, b := range s.terms {
		if !s.faulty && b.lost != nil {
			s.t.Errorf("seed %d: %s lost a term for nothing: %v", s.seed, b.who, b.lost)
		}
		for _, a := range s.terms[:i] {
			if b.begin.Before(a.end) {
				s.t.Errorf("seed %d: %s leads from %v, %s until %v", s.seed, b.who, b.begin, a.who, a.end)
			}
			if b.token <= a.token {
				s.t.Errorf("seed %d: %s has token %d after %s's %d", s.seed, b.who, b.token, a.who, a.token)
			}
		}
	}
}
