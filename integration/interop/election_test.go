//go:build linux

package interop_test

import (
	"flag"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/gocurator/curator/framework/zktest/await"
	"github.com/gocurator/curator/integration/interop/godriver"
	"github.com/gocurator/curator/integration/zookeeper"
)

var terms = flag.Int("terms", 3, "how often each language follows the other in TestElectionUnderFaultsHasOneLeader, at least")

const (
	latches   = "/election/latch"
	selectors = "/election/selector" // where mutexes stand, too
)

// candidates are the processes of an election under faults, and who stands for what in them.
var candidates = [][]post{
	{{ours, "latch", latches, ""}, {ours, "selector", selectors, ""}},
	{{ours, "latch", latches, ""}, {ours, "selector", selectors, ""}, {ours, "mutex", selectors, ""}},
	{{java, "latch", latches, ""}, {java, "selector", selectors, ""}},
	{{java, "latch", latches, ""}, {java, "selector", selectors, ""}, {java, "mutex", selectors, ""}},
}

// Both elections go on in both languages, the selectors' among mutexes of both, while processes are killed and frozen,
// links cut and frozen, and the server killed and frozen. It prints a table of what came of it.
func TestElectionUnderFaultsHasOneLeader(t *testing.T) {
	seed := *randomSeed
	if seed == 0 {
		seed = rand.Uint64()
	}
	t.Logf("-seed %d", seed)
	random := rand.New(rand.NewPCG(seed, 1))
	server := zookeeper.Start(t, zookeeper.Config{ContainerCheckInterval: time.Hour})
	w := &world{t: t, server: server, addr: server.Addr(), timeout: 2 * time.Second}
	e := &electionRun{newRun(w, func() time.Duration {
		if rand.IntN(6) == 0 {
			return w.timeout // long enough to be lost
		}
		return rand.N(100 * time.Millisecond)
	})}
	e.times = 1
	crew := make([]*slot, len(candidates))
	for i, posts := range candidates {
		crew[i] = &slot{posts: posts, proxy: newProxy(t, w.addr)}
		e.start(crew[i])
	}
	defer e.judgeUnfinished(latches, selectors)
	began := time.Now()
	e.storm(crew, random)
	e.end(crew)
	w.observer = newWorldAt(t, w.addr).observer
	for _, path := range []string{latches, selectors} {
		w.awaitChildren(path, 0)
	}
	e.judge(latches, selectors)
	fmt.Fprintf(t.Output(), "%v; faults %v\n%s", time.Since(began).Round(time.Second), e.faults, e.table())
}

// An electionRun is a run whose contenders lead.
type electionRun struct{ *run }

// storm lets every fault happen, one after the other, and again for each 25 terms, while leadership changes.
func (e *electionRun) storm(crew []*slot, random *rand.Rand) {
	e.t.Helper()
	faults := e.faultKinds()
	rounds := 1 + *terms/25
	for i := range rounds * len(faults) {
		if i%len(faults) == 0 {
			random.Shuffle(len(faults), func(i, j int) { faults[i], faults[j] = faults[j], faults[i] })
		}
		e.befall(crew, faults[i%len(faults)], random)
		e.awaitTurns(*terms * (i + 1) / (rounds * len(faults)))
	}
}

// awaitTurns waits until leadership has changed n times each way.
func (e *electionRun) awaitTurns(n int) {
	e.t.Helper()
	if !await.Within(4*patience, func() bool { return e.turns() >= n }) {
		await.Fatalf(e.t, "%d changes each way: got %d; the faults were\n%s", n, e.turns(), strings.Join(e.timeline, "\n"))
	}
}

// A fault befalls one process of a language, or the server.
type fault struct {
	name string
	kind string // the process's language; empty: the server
	do   func(s *slot)
}

// faultKinds are all faults. What lasts, lasts for longer than a session.
func (e *electionRun) faultKinds() (all []fault) {
	long := e.timeout * 7 / 5
	for _, kind := range []string{ours, java} {
		all = append(all,
			fault{"kill", kind, e.kill},
			fault{"cut link", kind, func(s *slot) { s.proxy.cutAll() }},
			fault{"frozen link", kind, func(s *slot) {
				s.proxy.freeze()
				time.Sleep(long)
				s.proxy.thaw()
			}},
			fault{"frozen process", kind, func(s *slot) {
				s.process.Freeze(e.t)
				time.Sleep(long)
				e.history.thawed(s.whos, godriver.Now())
				s.process.Thaw(e.t)
				e.awaitLooks()
			}})
	}
	return append(all,
		fault{"restarted server", "", func(*slot) {
			e.server.Kill()
			e.server.Restart()
		}},
		fault{"frozen server", "", func(*slot) {
			e.server.Freeze()
			time.Sleep(long)
			e.server.Unfreeze()
		}})
}

// awaitLooks waits until those that led while they were frozen have looked whether they still do.
func (e *electionRun) awaitLooks() {
	e.t.Helper()
	if !await.Within(patience, func() bool { return !e.history.unlooked() }) {
		e.t.Fatal("a leader that was frozen goes on for ever")
	}
}

// befall has a fault happen to a process that leads, if one does soon.
func (e *electionRun) befall(crew []*slot, f fault, random *rand.Rand) {
	e.t.Helper()
	var own []*slot
	for _, s := range crew {
		if f.kind == "" || s.posts[0].kind == f.kind {
			own = append(own, s)
		}
	}
	s := own[random.IntN(len(own))]
	for range 1000 {
		leads := slices.IndexFunc(own, func(s *slot) bool { return e.history.holding(s.whos) })
		if leads >= 0 {
			s = own[leads]
			break
		}
		time.Sleep(time.Millisecond)
	}
	begun := godriver.Now()
	f.do(s)
	e.note(strings.TrimSpace(f.name+" "+f.kind), begun, s)
}
