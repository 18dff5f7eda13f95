//go:build linux

package chaos_test

import (
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"testing"
	"time"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/framework/zktest/await"
	"github.com/gocurator/curator/integration/internal/drivers"
	"github.com/gocurator/curator/integration/interop/godriver"
	"github.com/gocurator/curator/integration/zookeeper"
)

var (
	length   = flag.Duration("for", 30*time.Second, "how long faults are made")
	seedFlag = flag.Uint64("seed", 0, "of the schedule; drawn if 0")
	picture  = flag.String("picture", "", "write two minutes of the run to this SVG `file`")
	figures  = flag.String("json", "", "write the report to this JSON `file`")
)

const (
	sessionTimeout = 4 * time.Second
	retryPause     = 100 * time.Millisecond
	// patience bounds everything that must happen at some time.
	patience = 3 * time.Minute
	// graceForOthers is how long service may be away until servers or other languages are helped.
	graceForOthers = 8 * sessionTimeout
	// roundLength bounds how much has to be judged at a time. Each round has servers of its own.
	roundLength = 5 * time.Minute
)

func TestMain(m *testing.M) {
	if os.Getenv(drivers.Env) != "" {
		if err := godriver.Run(os.Stdin, os.Stdout); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	os.Exit(m.Run())
}

func TestEnsembleUnderFire(t *testing.T) {
	seed := *seedFlag
	for seed == 0 {
		seed = rand.Uint64N(1 << 32)
	}
	all := newReport(seed)
	begun := time.Now()
	rounds := max(1, int((*length+roundLength-1)/roundLength))
	for i := range rounds {
		seed := seed + uint64(i)
		t.Run(fmt.Sprintf("seed %d", seed), func(t *testing.T) { newRun(t, seed, all).round(*length / time.Duration(rounds)) })
		if t.Failed() {
			break
		}
	}
	all.Seconds = time.Since(begun).Seconds()
	fmt.Fprint(t.Output(), all.text())
	all.write(t, *figures)
}

// A run is one round: servers, processes and followers under faults, until the servers' logs are judged.
type run struct {
	t         *testing.T
	seed      uint64
	dir       string // stays if the test fails
	report    *report
	ensemble  *zookeeper.Ensemble
	observer  *framework.Client
	disk      *disk
	record    *drivers.Record
	history   *history
	slots     []*slot
	followers []*follower
	episodes  []episode
	stop      chan struct{} // closed when no contender may begin anything any more
	names     int
	helped    bool // service came back only with help
	from      int64
	clock     span
}

func newRun(t *testing.T, seed uint64, all *report) *run {
	t.Helper()
	drivers.GoCommand(t)                  // skips the test where it is not wanted
	dir, err := os.MkdirTemp("", "chaos") //nolint:usetesting // it stays if the test fails
	if err != nil {
		t.Fatal(err)
	}
	r := &run{t: t, seed: seed, dir: dir, report: all, history: newHistory(), stop: make(chan struct{}), clock: lookAtClocks()}
	t.Cleanup(r.clean)
	r.record = drivers.NewRecordIn(dir)
	config := zookeeper.EnsembleConfig{Config: zookeeper.Config{ContainerCheckInterval: time.Hour}}
	if r.ensemble, err = zookeeper.NewEnsemble(dir, config, t); err != nil {
		if os.Getenv("CURATOR_INTEGRATION") != "required" {
			t.Skip(err)
		}
		t.Fatal(err)
	}
	t.Cleanup(r.ensemble.Close)
	if r.disk, err = newDisk(r.ensemble.Members()[diskServer-1]); err != nil {
		all.leaveOut(fillDisk, err)
	} else {
		t.Cleanup(func() { r.disk.close(t) })
	}
	r.ensemble.Settled()
	r.observer = connect(t, r.ensemble.ConnectString())
	return r
}

// clean removes what the round has written, unless it has failed.
func (r *run) clean() {
	if r.t.Failed() {
		fmt.Fprintf(r.t.Output(), "-args -seed %d repeats the schedule; logs and journals are in %s\n", r.seed, r.dir)
		for _, e := range r.episodes {
			fmt.Fprintf(r.t.Output(), "%8.3f to %8.3f s, served at %8.3f s: %v\n",
				seconds(e.Begun), seconds(e.Healed), seconds(e.Serving), e.Window)
		}
		return
	}
	if err := os.RemoveAll(r.dir); err != nil {
		r.t.Error(err)
	}
}

// round plays windows for a time, ends everything, and judges it.
func (r *run) round(long time.Duration) {
	r.prepare()
	r.from = godriver.Now()
	r.serving(r.from)
	schedule := newSchedule(r.seed, len(r.ensemble.Members()), r.disk != nil)
	for until := time.Now().Add(long); time.Now().Before(until) && !r.t.Failed(); {
		e := r.play(schedule.next())
		e.Serving = r.serving(e.Healed)
		e.Helped = r.helped
		r.repairServers()
		r.episodes = append(r.episodes, e)
		time.Sleep(time.Second) // a quiet time, for comparison
	}
	r.end()
	r.judge()
}

// prepare makes the nodes that holders write to, and starts processes and followers.
func (r *run) prepare() {
	r.t.Helper()
	for _, dir := range []string{withJava, withKazoo, readWrite, semaphore, election, retained} {
		for _, node := range []string{godriver.Begin, godriver.End, godriver.Token, godriver.Plain} {
			r.create(storeOf(dir) + "/" + node)
		}
	}
	r.create(members)
	for i := range slots {
		s := &slot{number: i}
		for _, m := range r.ensemble.Members() {
			s.routes = append(s.routes, m.Route())
		}
		r.slots = append(r.slots, s)
		if i < processes {
			r.start(s)
		} else {
			r.followers = append(r.followers, startFollower(r.t, slots[i].name, s.connectString()))
		}
	}
}

func (r *run) create(path string) {
	r.t.Helper()
	if _, _, err := r.observer.Create(r.t.Context(), path, []byte("{}"), framework.CreatingParentsIfNeeded()); err != nil {
		r.t.Fatal(err)
	}
}

// serving waits until every lock has been acquired and every registration is there since a time, and returns when. It
// notes in r.helped if servers or another language had to be helped for that.
func (r *run) serving(since int64) int64 {
	r.t.Helper()
	var waiting []string
	served := func() bool {
		waiting = r.history.unserved(since)
		if len(waiting) == 0 { // the servers answer
			waiting = r.unregistered()
		}
		return len(waiting) == 0
	}
	r.helped = false
	for until := time.Now().Add(patience); !await.Within(graceForOthers, served); {
		if time.Now().After(until) {
			await.Errorf(r.t, "service after faults have healed, at %v; there are %q", waiting, r.nodes())
			break
		}
		r.helped = r.help() || r.helped
	}
	return godriver.Now()
}

func (r *run) unregistered() (missing []string) {
	for _, s := range r.slots {
		for _, path := range s.members {
			if stat, err := r.observer.Exists(r.t.Context(), path); err != nil || stat == nil {
				missing = append(missing, path)
			}
		}
	}
	return missing
}

// end has all contenders end their work, and looks at what they leave. Then it closes every client and ends the
// processes.
func (r *run) end() {
	close(r.stop)
	if r.t.Failed() { // there may be contenders that wait without end
		for _, s := range r.slots[:processes] {
			r.kill(s)
		}
		return
	}
	for _, s := range r.slots[:processes] {
		s.workers.Wait()
		for who := range s.members {
			r.done(s.process, godriver.Order{Op: "release", Who: who})
		}
	}
	r.awaitReleased()
	for _, s := range r.slots[:processes] {
		for _, client := range s.clients {
			r.done(s.process, godriver.Order{Op: "close", Client: client})
		}
		s.process.Kill()
	}
}
