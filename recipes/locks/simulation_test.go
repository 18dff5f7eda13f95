package locks_test

import (
	"cmp"
	"context"
	"flag"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/framework/zktest"
	"github.com/gocurator/curator/recipes/locks"
	"github.com/gocurator/curator/recipes/locks/lockstest"
	"github.com/gocurator/curator/retry"
)

var (
	simulationSeed  = flag.Uint64("seed", 0, "replay this seed of the simulation alone, and log its history")
	simulationSeeds = flag.Int("seeds", 100, "how many seeds the simulation tries of each kind")
)

// A simulation is a random schedule of workers that acquire, hold, cancel and release, and of faults that befall them. Everything
// that happens is recorded, and the whole checked against the guarantees at the end.
type simulation struct {
	t      *testing.T
	seed   uint64
	server *zktest.Server
	peers  []*peer
	kind

	mu      sync.Mutex
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
	node       string
	token      int64
	count      int64
	begin, end time.Time
	lost       error
}

// A kind of simulation.
type kind struct {
	faulty bool
	local  bool // with local hand-over: more workers, and short holds
}

func TestSimulation(t *testing.T) {
	for name, kind := range map[string]kind{
		"calm": {}, "stormy": {faulty: true}, "calm, handing over": {local: true}, "stormy, handing over": {faulty: true, local: true},
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
	synctest.Test(t, func(t *testing.T) {
		s := &simulation{
			t: t, seed: seed, kind: kind, server: zktest.NewServer(),
		}
		t.Cleanup(func() { s.server.Close() })
		s.run()
		s.check()
		if t.Failed() || *simulationSeed != 0 {
			t.Logf("history:\n%s", strings.Join(s.log, "\n"))
			t.Logf("replay with: go test ./recipes/locks -run 'TestSimulation' -seed %d", seed)
		}
	})
}

func (s *simulation) run() {
	director := s.actor(0)
	for range 2 + director.pick(4) {
		s.peers = append(s.peers, director.newPeer())
	}
	most, opts := 2, []locks.Option(nil)
	if s.local {
		most, opts = 5, []locks.Option{locks.WithLocalHandover(3)}
	}
	stop := make(chan struct{})
	var workers, weather sync.WaitGroup
	for i, p := range s.peers {
		for j := range 1 + director.pick(most) {
			worker := s.actor(2 + most*i + j)
			workers.Go(func() { worker.work(fmt.Sprintf("%c%d", 'A'+i, j), p, opts...) })
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
		s.t.Errorf("seed %d: somebody waits for ever; nodes %v", s.seed, s.server.Children(path))
	}
	close(stop)
	weather.Wait()
	for _, p := range s.peers {
		p.link.Heal()
	}
	s.checkResidue()
	for _, p := range s.peers {
		_ = p.Close()
	}
	<-done
}

func (s actor) newPeer() *peer {
	p := &peer{cable: s.server.NewLink()}
	p.link = lockstest.NewLink("zktest:2181", p.cable.DialContext)
	client, err := framework.NewClient("zktest:2181", framework.WithDialer(p.link.DialContext),
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
func (s actor) work(who string, p *peer, opts ...locks.Option) {
	for range 4 + s.pick(8) {
		s.pause(time.Second)
		ctx, cancel := context.WithCancel(s.t.Context())
		if s.pick(4) == 0 { // it will not wait for ever
			ctx, cancel = context.WithTimeout(s.t.Context(), time.Duration(s.pick(4000))*time.Millisecond)
		}
		lock := p.mutex(opts...)
		acquire := lock.Acquire
		if s.pick(5) == 0 {
			acquire = lock.TryAcquire
		}
		lease, err := acquire(ctx)
		if err != nil {
			s.note("%s: %v", who, err)
		} else {
			s.hold(who, lease)
		}
		cancel()
	}
}

func (s actor) hold(who string, lease *locks.Lease) {
	h := hold{who: who, node: lease.NodeName(), token: lease.FencingToken(), count: lease.LocalCount(), begin: time.Now()}
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

// storm lets faults happen until it is stopped.
func (s actor) storm(stop <-chan struct{}) {
	for {
		select {
		case <-stop:
			return
		case <-time.After(time.Duration(s.pick(5000)) * time.Millisecond):
		}
		i := s.pick(len(s.peers))
		p := s.peers[i]
		kind := s.pick(10)
		s.note("fault %d on %c", kind, 'A'+i)
		switch kind {
		case 0:
			p.link.Cut()
		case 1:
			p.link.Mute()
		case 2, 3:
			p.link.Heal()
		case 4:
			p.link.Reset()
		case 5:
			p.link.DropReply([]lockstest.Op{lockstest.Create, lockstest.GetChildren, lockstest.Delete, lockstest.GetData}[s.pick(4)])
		case 6:
			p.link.DelayReply(lockstest.Create, time.Duration(s.pick(12000))*time.Millisecond)
		case 7:
			s.server.Restart()
		case 8:
			s.server.Freeze()
			s.pause(4 * time.Second)
			s.server.Thaw()
		case 9:
			p.cable.SetLatency(time.Duration(s.pick(500)) * time.Millisecond)
		}
		if s.pick(3) == 0 {
			for _, p := range s.peers {
				p.link.Heal()
			}
		}
	}
}

// check checks the history: G1 and G2 in one, since a hold ends when its owner knows; G3 where nothing went wrong; G9.
func (s *simulation) check() {
	slices.SortFunc(s.history, func(a, b hold) int {
		return cmp.Or(a.begin.Compare(b.begin), cmp.Compare(a.token, b.token), cmp.Compare(a.count, b.count))
	})
	for i := 1; i < len(s.history); i++ {
		a, b := s.history[i-1], s.history[i]
		if b.begin.Before(a.end) {
			s.t.Errorf("seed %d: %s is let in at %v, %s holds until %v", s.seed, b.who, b.begin, a.who, a.end)
		}
		if b.token < a.token || b.token == a.token && b.count <= a.count {
			s.t.Errorf("seed %d: %s has token %d/%d after %s's %d/%d", s.seed, b.who, b.token, b.count, a.who, a.token, a.count)
		}
		if !s.faulty && a.lost != nil {
			s.t.Errorf("seed %d: %s lost the lock for nothing: %v", s.seed, a.who, a.lost)
		}
	}
}

// checkResidue checks G5 and G4 when all is calm again.
func (s *simulation) checkResidue() {
	for range 100 {
		if len(s.server.Children(path)) == 0 && s.server.WatchCount() == 0 {
			return
		}
		time.Sleep(sessionTimeout / 20)
	}
	s.t.Errorf("seed %d: there are nodes %v and %d watches left", s.seed, s.server.Children(path), s.server.WatchCount())
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
