//go:build linux

package interop_test

import (
	"flag"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/gocurator/curator/framework/zktest/await"
	"github.com/gocurator/curator/integration/internal/drivers"
	"github.com/gocurator/curator/integration/interop/godriver"
	"github.com/gocurator/curator/integration/zookeeper"
)

var (
	acquisitions = flag.Int("acquisitions", 600, "how many holds TestRandomMixedRun waits for at least; every hundred see a fault more. "+
		"TestRandomChangesReachCaches takes a second for sixty")
	randomSeed = flag.Uint64("seed", 0, "of the random runs; a new one each time if 0")
)

// Curator does not count kazoo's nodes, so they cannot share a path. Ours and zk.Lock stand in both queues.
const (
	withJava   = "/random/with-java"
	withKazoo  = "/random/with-kazoo"
	readWriter = "/random/read-write"
	semaphore  = "/random/semaphore" // has two leases
)

// A post is a contender of a process that lives in the run.
type post struct{ kind, recipe, path, side string }

// slots are the processes of the run and who works in them.
var slots = [][]post{
	{
		{ours, "mutex", withJava, ""},
		{ours, "mutex", withKazoo, ""},
		{ours, "rw", readWriter, "write"},
		{ours, "rw", readWriter, "read"},
		{ours, "semaphore", semaphore, ""},
	},
	{
		{ours, "mutex", withJava, ""},
		{goZK, "mutex", withJava, ""},
		{goZK, "mutex", withKazoo, ""},
		{ours, "rw", readWriter, "read"},
		{ours, "semaphore", semaphore, ""},
	},
	{
		{java, "mutex", withJava, ""},
		{java, "mutex", withJava, ""},
		{java, "rw", readWriter, "write"},
		{java, "rw", readWriter, "read"},
		{java, "semaphore", semaphore, ""},
		{java, "semaphore", semaphore, ""},
	},
	{{java, "mutex", withJava, ""}, {java, "rw", readWriter, "read"}, {java, "semaphore", semaphore, ""}},
	{{python, "mutex", withKazoo, ""}},
	{{python, "mutex", withKazoo, ""}},
}

// A run has contenders of three languages work under faults: processes that are killed or frozen, connections that are
// cut, a server that is killed and comes back.
type run struct {
	*world
	history *history
	stop    chan struct{} // closed when no contender may begin anything any more
	faults  map[string]int
	clock   clock
	record  *drivers.Record
	hold    func() time.Duration // how long contenders hold
	times   int                  // how often before they are asked whether to go on

	timeline     []string // the faults, in their order
	disturbances []disturbance
	judged       bool

	late  atomic.Bool // a wait has failed the test
	stuck atomic.Bool // a contender's wait has failed, so its nodes may be left

	mu    sync.Mutex
	posts map[string]post // the contenders' posts, by name
}

// A slot is a process, or the one that follows it.
type slot struct {
	posts   []post
	proxy   *proxy
	process *drivers.Process
	whos    []string
	ours    []string // clients of this library
	workers sync.WaitGroup
}

func TestRandomMixedRun(t *testing.T) {
	seed := *randomSeed
	if seed == 0 {
		seed = rand.Uint64()
	}
	t.Logf("-seed %d", seed)
	random := rand.New(rand.NewPCG(seed, 0))
	server := zookeeper.Start(t, zookeeper.Config{ContainerCheckInterval: time.Hour})
	w := &world{t: t, server: server, addr: server.Addr(), timeout: 2 * time.Second}
	r := newRun(w, func() time.Duration { return rand.N(20 * time.Millisecond) })
	crew := make([]*slot, len(slots))
	for i, posts := range slots {
		crew[i] = &slot{posts: posts, proxy: newProxy(t, w.addr)}
		r.start(crew[i])
	}
	paths := []string{withJava, withKazoo, readWriter, semaphore + "/leases"}
	defer r.judgeUnfinished(paths...)
	began := time.Now()
	grown, before := began, 0
	for done := 0; r.history.count() < *acquisitions || done < max(8, *acquisitions/100); {
		time.Sleep(time.Duration(200+random.IntN(600)) * time.Millisecond)
		if now := r.history.count(); now > before {
			grown, before = time.Now(), now
		} else if time.Since(grown) > 2*patience {
			r.waited("%d holds: got %d in %v, and none in the last %v", *acquisitions, now, time.Since(began), time.Since(grown))
			break
		}
		if done < max(8, *acquisitions/100) {
			r.fault(random, crew)
			done++
		}
	}
	r.end(crew)
	fmt.Fprintf(t.Output(), "%d holds in %v; %s; faults %v\n", r.history.count(), time.Since(began).Round(time.Second), r.history.tally(), r.faults)
	// go-zookeeper's connections are not free of races when they are lost; this one lives after the last fault.
	w.observer = newWorldAt(t, w.addr).observer
	for _, path := range append(paths, semaphore+"/locks") {
		w.awaitChildren(path, 0)
	}
	r.judge(paths...)
}

func newRun(w *world, hold func() time.Duration) *run {
	return &run{
		world: w, history: newHistory(), stop: make(chan struct{}), clock: lookAtClocks(), hold: hold, times: 5, record: drivers.NewRecord(w.t),
		faults: map[string]int{}, posts: map[string]post{},
	}
}

// end waits until the contenders have ended their work.
func (r *run) end(crew []*slot) {
	r.t.Helper()
	close(r.stop)
	for _, s := range crew {
		s.workers.Wait()
	}
	if r.stuck.Load() {
		r.t.FailNow() // otherwise its nodes would seem to be a leak
	}
}

// waited fails the test because it has waited too long. What waits beside that is no failure of another kind.
func (r *run) waited(format string, args ...any) {
	r.t.Helper()
	if r.late.CompareAndSwap(false, true) {
		await.Errorf(r.t, format, args...)
	} else {
		fmt.Fprintf(r.t.Output(), "waited too long for "+format+"\n", args...)
	}
}

// judge fails the test for what must not have happened on paths, when all holds have ended and all nodes are gone.
func (r *run) judge(paths ...string) {
	r.t.Helper()
	r.judged = true
	r.learnRemovals()
	r.checkJournal()
	zklock := r.zklockHistory()
	for _, path := range paths {
		holds := r.history.holds(path)
		r.report(path, holds, slices.Concat(zklock.differences(path, holds, r.disturbed), r.conflicts(path, holds), outliving(holds), r.history.unjudged(path)))
	}
}

// judgeUnfinished judges what a run has done that has ended before it could be judged, as by a wait that took too long:
// that must hide no conflict. Holds that have not ended are left out, and nodes may still be there.
func (r *run) judgeUnfinished(paths ...string) {
	r.t.Helper()
	if r.judged {
		return
	}
	r.learnRemovals()
	r.checkJournal()
	for _, path := range paths {
		holds := r.history.holds(path)
		removed := slices.DeleteFunc(slices.Clone(holds), func(one hold) bool { return one.removed.to == 0 })
		r.report(path, holds, append(r.conflicts(path, holds), outliving(removed)...))
	}
}

// checkJournal checks what has happened inside the locks of this library.
func (r *run) checkJournal() {
	r.t.Helper()
	begun := time.Now()
	steps := r.record.Check(r.t, r.server)
	fmt.Fprintf(r.t.Output(), "the journal: %d steps, checked in %v\n", steps, time.Since(begun).Round(time.Millisecond))
	if steps == 0 {
		r.t.Error("got no step in the journal, want some")
	}
}

// conflicts finds what no two holds of a path may be to each other.
func (r *run) conflicts(path string, holds []hold) []string {
	if path == semaphore+"/leases" {
		return append(crowd(holds, 2), r.history.robbed(path)...)
	}
	return slices.Concat(overlaps(holds), disorder(holds), r.history.robbed(path))
}

// report fails the test for the problems of a path.
func (r *run) report(path string, holds []hold, problems []string) {
	r.t.Helper()
	lost := 0
	for _, one := range holds {
		if one.lost {
			lost++
		}
	}
	fmt.Fprintf(r.t.Output(), "%s: %d holds, %d of them lost, %d problems\n", path, len(holds), lost, len(problems))
	for _, problem := range problems[:min(len(problems), 5)] {
		r.t.Errorf("%s: %s", path, problem)
	}
	if len(problems) > 0 {
		fmt.Fprintf(r.t.Output(), "the faults were\n%s\n", strings.Join(r.timeline, "\n"))
	}
}

// start starts the process of a slot and sets its contenders to work.
func (r *run) start(s *slot) {
	r.t.Helper()
	s.process = drivers.Start(r.t, s.posts[0].kind, command(r.t, s.posts[0].kind), r.tell)
	r.t.Cleanup(s.process.Kill)
	s.whos, s.ours = nil, nil
	for _, p := range s.posts {
		k := r.employ(s, p)
		s.whos = append(s.whos, k)
		process := s.process
		s.workers.Go(func() { r.work(process, k, p) })
	}
}

// employ makes one contender with a client of its own.
func (r *run) employ(s *slot, p post) (who string) {
	r.t.Helper()
	data := nodeData
	client := name("client")
	open := godriver.Order{Op: "open", Client: client, Connect: s.proxy.addr(), Session: int(r.timeout.Milliseconds()), Data: &data}
	switch p.kind {
	case goZK:
		open.Recipe = "zklock"
	case ours:
		open.Journal = r.record.File(client)
		s.ours = append(s.ours, client)
	}
	r.done(s.process, open)
	who = name(p.kind)
	r.mu.Lock()
	r.posts[who] = p
	r.mu.Unlock()
	r.done(s.process, godriver.Order{
		Op: "contender", Client: client, Who: who, Recipe: p.recipe, Path: p.path, Max: 2, Patterns: []string{"lock-"},
	})
	return who
}

// work has a contender work until the run or its process ends.
func (r *run) work(process *drivers.Process, who string, p post) {
	for {
		select {
		case <-r.stop:
			return
		default:
		}
		order := godriver.Order{
			Op: "work", Who: who, Side: p.side, MS: -1, N: 1, Times: r.times, Hold: r.hold().Microseconds(), Pause: rand.Int64N(20_000),
		}
		select {
		case a := <-process.Order(order):
			if a.Error != "" {
				return
			}
		case <-time.After(2 * patience):
			r.stuck.Store(true)
			r.waited("%s to work; the tree is\n%s", who, newWorldAt(r.t, r.addr).tree("/random"))
			return
		}
	}
}

func (r *run) tell(a godriver.Answer) {
	r.mu.Lock()
	p := r.posts[a.Who]
	r.mu.Unlock()
	path := p.path
	if p.recipe == "semaphore" {
		path += "/leases"
	}
	switch a.Event {
	case "acquired":
		r.history.acquired(path, p.side == "read", a)
	case "released":
		r.history.released(a.Who, a.Began, a.Valid)
	case "failed":
		fmt.Fprintf(r.t.Output(), "%s: %s\n", a.Who, a.Error)
		r.history.failed(a.Who, a.Error)
	}
}

// fault does one thing of those that happen, and waits until it is over.
func (r *run) fault(random *rand.Rand, crew []*slot) {
	r.t.Helper()
	s := crew[random.IntN(len(crew))]
	kind := s.posts[0].kind
	for range 100 { // it is most interesting while something is held
		if r.history.holding(s.whos) {
			break
		}
		time.Sleep(time.Millisecond)
	}
	var fault string
	begun := godriver.Now()
	defer func() { r.note(fault, begun, s) }()
	switch n := random.IntN(10); {
	case n < 3:
		fault = "kill " + kind
		r.kill(s)
	case n < 5:
		fault = "cut " + kind
		s.proxy.cutAll()
	case n < 6:
		fault = "restart the server"
		r.server.Kill()
		time.Sleep(time.Duration(random.IntN(500)) * time.Millisecond)
		r.server.Restart()
	default:
		long := time.Duration(float64(r.timeout) * []float64{0.3, 1.6}[random.IntN(2)])
		fault = fmt.Sprintf("freeze %s for %v", kind, long)
		s.process.Freeze(r.t)
		time.Sleep(long)
		s.process.Thaw(r.t)
	}
}

// note counts a fault that is over.
func (r *run) note(fault string, begun int64, s *slot) {
	over := godriver.Now()
	r.faults[fault]++
	r.timeline = append(r.timeline, fmt.Sprintf("%.3f to %.3f s: %s %v", float64(begun)/1e9, float64(over)/1e9, fault, s.whos))
	r.disturbances = append(r.disturbances, disturbance{span{begun, over}, s.whos, strings.Contains(fault, "server")})
}

// kill kills the process of a slot, and starts the one that follows it.
func (r *run) kill(s *slot) {
	r.t.Helper()
	s.process.Kill()
	now := godriver.Now()
	for _, client := range s.ours {
		r.record.Die(client)
	}
	s.workers.Wait()
	for _, who := range s.whos {
		r.history.died(who, now)
	}
	r.start(s)
}
