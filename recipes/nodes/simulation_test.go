package nodes_test

import (
	"context"
	"flag"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/gocurator/curator/framework/zktest"
	"github.com/gocurator/curator/recipes/cache"
	"github.com/gocurator/curator/recipes/internal/sampletest"
	"github.com/gocurator/curator/recipes/internal/simtest"
	"github.com/gocurator/curator/recipes/journaltest"
	"github.com/gocurator/curator/recipes/nodes/nodestest"
)

var (
	simulationSeed  = flag.Uint64("seed", 0, "try this seed of the simulation alone, and log its history")
	simulationSeeds = flag.Int("seeds", 24, "how many seeds the simulation tries of each kind")
)

const (
	dir = "/services/web"
	// silence is how long a node may outlast its process: a session timeout, two ticks, and what was under way.
	silence = simtest.SessionTimeout + 2*tick + time.Second
	tick    = 100 * time.Millisecond // zktest's
	// settled is after what time without faults a provider that runs is listed.
	settled = 3 * simtest.SessionTimeout
	// lateLooks is after what time nodes of late creates are gone.
	lateLooks = 4*simtest.SessionTimeout + 5*time.Second
)

// A simulation is a random schedule of programs that register, and of what befalls them. What the servers execute is
// checked against the laws at the end, and what is listed at quiet moments.
type simulation struct {
	*simtest.Env
	simtest.Dice
	faulty    bool
	calls     sync.WaitGroup // Start, Set and Close
	reader    *cache.CuratorCache
	processes []*process
	names     int
	ended     map[int64]bool // sessions, by an administrator

	mu         sync.Mutex
	claims     []nodestest.Claim
	departures []nodestest.Departure
	closings   []nodestest.Closing
	counts     counts
}

// counts say what a simulation has tried.
type counts struct{ claims, replaced, departures, closings, listed, excused int }

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
		t.Run(name, func(t *testing.T) {
			first, part := uint64(1), sample.Part(*simulationSeeds, 3)
			if *simulationSeed != 0 {
				first, part = *simulationSeed, []int{0}
			}
			var sum counts
			for _, i := range part {
				if t.Failed() {
					break
				}
				simulate(t, first+uint64(i), kind.servers, kind.faulty, &sum)
			}
			t.Logf("%+v", sum)
			if len(part) > 20 && (sum.replaced == 0 || sum.departures == 0 || sum.closings == 0) {
				t.Errorf("got %+v, want some of each", sum)
			}
		})
	}
}

func simulate(t *testing.T, seed uint64, servers int, faulty bool, sum *counts) {
	zktest.Bubble(t, func(t *testing.T) {
		s := &simulation{Env: simtest.New(t, seed, servers, dir), faulty: faulty, ended: map[int64]bool{}}
		s.Dice = s.Env.Dice(0)
		s.LoseAnyReply()
		s.Ensemble.Leader().ObserveTransactions(s.note)
		s.run()
		s.check()
		if t.Failed() || *simulationSeed != 0 {
			s.LogHistory("./recipes/nodes")
		}
		sum.add(s.counts)
	})
}

// note writes what servers execute into the history.
func (s *simulation) note(t zktest.Transaction) {
	for _, c := range t.Changes {
		if strings.HasPrefix(c.Path, dir+"/") {
			path := journaltest.WithoutGUIDs(c.Path)
			s.Note("servers", "%#x of session %#x: %v %s of %#x", t.Zxid, t.Session, c.Kind, path, c.Owner)
		}
	}
}

func (c *counts) add(o counts) {
	c.claims += o.claims
	c.replaced += o.replaced
	c.departures += o.departures
	c.closings += o.closings
	c.listed += o.listed
	c.excused += o.excused
}

func (s *simulation) run() {
	s.AddPeer(s.Some(20 * time.Millisecond)) // the reader's
	for range 2 + s.Pick(2) {
		s.AddProcess(s.latency())
	}
	for _, p := range s.Peers[1:] {
		s.processes = append(s.processes, &process{simulation: s, peer: p})
	}
	s.reader = cache.NewCuratorCache(s.Peers[0].Client, dir, cache.WithDepth(1), cache.WithReadAgain(time.Minute))
	var conductor sync.WaitGroup
	conductor.Go(s.conduct)
	s.Run(&conductor, s.faulty)
}

func (s *simulation) latency() time.Duration { return s.Some(20 * time.Millisecond) }

// conduct lets things happen, one after the other, with quiet moments in between.
func (s *simulation) conduct() {
	reading, enough := context.WithCancel(s.T.Context())
	var reader sync.WaitGroup
	reader.Go(func() {
		for reading.Err() == nil && s.reader.Start(reading) != nil { // without a connection it ends by the policy
		}
	})
	for range 2 + s.Pick(2) {
		for range 5 + s.Pick(15) {
			time.Sleep(s.Some(3 * time.Second))
			s.act(s.processes[s.Pick(len(s.processes))])
		}
		s.quiet()
	}
	for _, p := range s.processes {
		p.closeAll()
	}
	s.calls.Wait()
	enough()
	reader.Wait()
	_ = s.reader.Close()
}

// act does one thing at random: a program's, or an administrator's.
func (s *simulation) act(p *process) {
	if p.suspended() {
		return
	}
	switch s.Pick(14) {
	case 0, 1, 2, 3:
		p.start()
	case 4:
		p.close()
	case 5:
		p.restart()
	case 6:
		p.set()
	case 7:
		p.die()
	case 8, 9:
		p.suspend()
	case 10:
		p.expire()
	case 11:
		p.startLate()
	default:
		s.administer()
	}
}

// administer deletes or writes a node by hand.
func (s *simulation) administer() {
	names := s.Ensemble.Leader().Children(dir)
	if len(names) == 0 {
		return
	}
	path := dir + "/" + names[s.Pick(len(names))]
	if s.Pick(3) == 0 {
		s.Note("hand", "writes %s: %v", path, s.Ensemble.Leader().SetData(path, []byte("by hand")))
		return
	}
	s.Note("hand", "deletes %s: %v", path, s.Ensemble.Leader().Delete(path))
}

// check checks what the servers have executed.
func (s *simulation) check() {
	h := s.history()
	h.CheckDepartures(s.departures, silence, s.Touched())
	h.CheckClosings(s.closings)
	h.CheckReplacements(s.claims)
	if !s.faulty {
		h.CheckGaps(s.claims, s.departures, settledCalm)
		h.CheckFormer(s.claims, s.departures, s.ended, settledCalm)
	}
	for _, problem := range h.Problems() {
		s.T.Errorf("seed %d: %s", s.Seed, problem)
		s.Note("law", "%s", problem)
	}
	s.counts.claims, s.counts.departures, s.counts.closings = len(s.claims), len(s.departures), len(s.closings)
	s.counts.replaced, s.counts.excused = h.Replaced(), h.Excused()
}

// settledCalm is the longest gap without faults: after some removals by hand in a row, a node is made again after
// a second.
const settledCalm = 2 * time.Second

func (s *simulation) history() *nodestest.History {
	var all []zktest.Transaction
	for _, e := range s.Journal.Events() {
		if e.Transaction != nil {
			t := *e.Transaction
			t.At = e.At // exact
			all = append(all, t)
		}
	}
	return nodestest.NewHistory(dir, all, s.processOf)
}

// processOf returns the name of the process that has had a session.
func (s *simulation) processOf(session int64) string {
	for _, p := range s.processes {
		for _, peer := range append(p.dead, p.peer) {
			if peer.Had(session) {
				return peer.Name()
			}
		}
	}
	return "" // an administrator
}
