package leader_test

import (
	"cmp"
	"flag"
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/gocurator/curator/framework/zktest"
	"github.com/gocurator/curator/recipes/internal/sampletest"
	"github.com/gocurator/curator/recipes/internal/simtest"
)

var (
	simulationSeed  = flag.Uint64("seed", 0, "try this seed of the simulation alone, and log its history")
	simulationSeeds = flag.Int("seeds", 30, "how many seeds the simulation tries of each kind")
)

// A simulation is a random schedule of an election's participants and of faults that befall them. What they do is
// recorded, and checked against the guarantees at the end.
type simulation struct {
	*simtest.Env
	faulty bool

	mu    sync.Mutex
	terms []office
	leads map[string]func() bool // HasLeadership of each participant
}

// An office is a term: from the beginning of the leader's work to its end.
type office struct {
	who        string
	token      int64
	begin, end time.Time
	lost       error
}

// An actor is a participant, with choices of its own.
type actor struct {
	*simulation
	simtest.Dice
}

func (s *simulation) actor(n int) actor { return actor{s, s.Dice(n)} }

func TestSimulation(t *testing.T) {
	sample := sampletest.New(t, "seed", "seeds")
	for name, kind := range map[string]struct {
		servers int
		faulty  bool
	}{
		"calm":             {servers: 1},
		"stormy":           {servers: 1, faulty: true},
		"stormy, of three": {servers: 3, faulty: true},
	} {
		for recipe, stand := range map[string]func(a actor, who string, p *simtest.Peer){
			"selectors": actor.runSelector, "latches": actor.runLatch,
		} {
			t.Run(name+", "+recipe, func(t *testing.T) {
				first, part := uint64(1), sample.Part(*simulationSeeds, 3)
				if *simulationSeed != 0 {
					first, part = *simulationSeed, []int{0}
				}
				terms, lost := 0, 0
				for _, i := range part {
					if t.Failed() {
						break
					}
					all, some := simulate(t, first+uint64(i), kind.servers, kind.faulty, stand)
					terms, lost = terms+all, lost+some
				}
				if len(part) > 20 && (lost > 0) != kind.faulty {
					t.Errorf("%d of %d terms were lost", lost, terms)
				}
				t.Logf("%d terms, %d of them lost", terms, lost)
			})
		}
	}
}

func simulate(
	t *testing.T, seed uint64, servers int, faulty bool, stand func(a actor, who string, p *simtest.Peer),
) (terms, lost int) {
	zktest.Bubble(t, func(t *testing.T) {
		s := &simulation{Env: simtest.New(t, seed, servers, path), faulty: faulty, leads: map[string]func() bool{}}
		s.run(stand)
		s.check()
		if t.Failed() || *simulationSeed != 0 {
			s.LogHistory("./recipes/leader")
		}
		for _, o := range s.terms {
			if terms++; o.lost != nil {
				lost++
			}
		}
	})
	return terms, lost
}

func (s *simulation) run(stand func(a actor, who string, p *simtest.Peer)) {
	scenario := s.Dice(0)
	for range 2 + scenario.Pick(3) {
		s.AddPeer(scenario.Some(20 * time.Millisecond))
	}
	var working sync.WaitGroup
	for i, p := range s.Peers {
		for j := range 1 + scenario.Pick(2) {
			a := s.actor(2 + 2*i + j)
			working.Go(func() { stand(a, fmt.Sprintf("%c%d", 'A'+i, j), p) })
		}
	}
	s.Run(&working, s.faulty)
}

func (s *simulation) joined(who string, leads func() bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.leads[who] = leads
}

// check checks the history: G1 and G2 in one, since a term ends when its leader knows; G9.
func (s *simulation) check() {
	slices.SortFunc(s.terms, func(a, b office) int {
		return cmp.Or(a.begin.Compare(b.begin), cmp.Compare(a.token, b.token))
	})
	for i, b := range s.terms {
		if !s.faulty && b.lost != nil {
			s.T.Errorf("seed %d: %s lost a term for nothing: %v", s.Seed, b.who, b.lost)
		}
		for _, a := range s.terms[:i] {
			if b.begin.Before(a.end) {
				s.T.Errorf("seed %d: %s leads from %v, %s until %v", s.Seed, b.who, b.begin, a.who, a.end)
			}
			if b.token <= a.token {
				s.T.Errorf("seed %d: %s has token %d after %s's %d", s.Seed, b.who, b.token, a.who, a.token)
			}
		}
	}
}
