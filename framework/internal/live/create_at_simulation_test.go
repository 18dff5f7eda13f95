package live_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/go-zookeeper/zk"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/framework/internal/clienttest"
	"github.com/gocurator/curator/framework/internal/live"
	"github.com/gocurator/curator/framework/zktest"
)

var exactPaths = []string{"/x/a", "/x/b", "/y"}

// An exactSimulation is a random schedule of CreateAt and RemoveAt of one client, with one goroutine for each path, of
// faults of its connection, and of strangers that use the same paths.
type exactSimulation struct {
	*env
	*exactLog
	ensemble *zktest.Ensemble
	rough    bool // strangers delete the client's nodes, and the client replaces theirs
	rand     *rand.Rand
	stop     chan struct{}
	actors   sync.WaitGroup
	undo     []func() // ends faults
}

func TestSimulatedCreateAtsAndRemoveAtsLeaveWhatIsClaimed(t *testing.T) {
	for seed := range seeds(t, *simulationSeeds/3) {
		version := []string{"3.4.14", "3.5.10", "3.6", "3.8.6", "3.9.5"}[seed%5]
		zktest.Bubble(t, func(t *testing.T) {
			rough := seed%4 == 0
			ensemble := zktest.NewEnsemble(2, zktest.WithVersion(version))
			t.Cleanup(func() { _ = ensemble.Close() })
			w := &exactSimulation{
				env:      &env{&clienttest.Env{T: t, Server: ensemble.Leader(), Link: ensemble.NewLink()}},
				exactLog: &exactLog{claimed: map[string]int64{}, looked: map[string]int64{}, wanted: map[string]int64{}, rough: rough},
				ensemble: ensemble, rough: rough, rand: rand.New(rand.NewPCG(seed, 1)), stop: make(chan struct{}),
			}
			w.run()
			for _, problem := range w.problems {
				t.Error(problem)
			}
			if t.Failed() || *simulationSeed != 0 {
				t.Logf("at %s, replay with -seed %d:\n%s", version, seed, strings.Join(w.lines, "\n"))
			}
		})
	}
}

func (w *exactSimulation) run() {
	w.Link.SetLatency(time.Millisecond)
	w.Client = w.Dial("server0:2181,server1:2181")
	stranger, err := framework.NewClient("any", framework.WithDialer(w.Server.DialContext), framework.WithSessionTimeout(time.Hour))
	if err != nil {
		w.Fatal(err)
	}
	defer func() { _ = stranger.Close() }()
	w.Connected()
	w.exactLog.observe(w.ensemble, enterable(w.T, stranger).ID())
	for _, path := range exactPaths {
		seed := w.rand.Uint64()
		w.actors.Go(func() { w.creator(path, rand.New(rand.NewPCG(seed, 0))) })
		w.actors.Go(func() { w.stranger(stranger, path, rand.New(rand.NewPCG(seed, 1))) })
	}
	if !w.rough { // a look at a server that is behind says nothing of the moment
		w.ensemble.SetLag(1, time.Duration(w.rand.IntN(3000))*time.Millisecond)
	}
	for range 60 {
		time.Sleep(time.Duration(w.rand.IntN(3000)) * time.Millisecond)
		w.fault()
	}
	for _, undo := range w.undo {
		undo()
	}
	close(w.stop)
	w.note("the end of faults")
	w.actors.Wait()
	w.Connected()
	time.Sleep(6 * clienttest.SessionTimeout)
	w.check()
	w.ensemble.SetLag(1, 0) // Close waits for a second
	if err := w.Client.Close(); err != nil {
		w.Error(err)
	}
	for _, path := range exactPaths {
		if owner := w.owner(path); owner != 0 && owner != w.foreign {
			w.Errorf("after Close: got a node of session %#x at %s, want none of the client", owner, path)
		}
	}
}

func (w *exactSimulation) owner(path string) int64 {
	stat, _ := w.Server.Stat(path)
	return stat.EphemeralOwner
}

// check compares with what the creators have at their end.
func (w *exactSimulation) check() {
	w.mu.Lock()
	claimed := w.claimed
	w.mu.Unlock()
	for _, path := range exactPaths {
		owner := w.owner(path)
		switch want := claimed[path]; {
		case want != 0 && owner != want && !w.rough:
			w.Errorf("%s: got a node of %#x, want the one of %#x that was claimed", path, owner, want)
		case want == 0 && owner != 0 && owner != w.foreign:
			w.Errorf("%s: got a node of %#x, want none of the client", path, owner)
		}
	}
}

// running reports whether an actor goes on, after a pause.
func (w *exactSimulation) running(r *rand.Rand) bool {
	timer := time.NewTimer(time.Duration(r.IntN(4000)) * time.Millisecond)
	defer timer.Stop()
	select {
	case <-w.stop:
		return false
	case <-timer.C:
		return true
	}
}

// creator creates and removes the client's node at a path.
func (w *exactSimulation) creator(path string, r *rand.Rand) {
	for w.running(r) {
		s, err := w.Client.Session(w.Context())
		if err != nil { // there is no connection for long
			continue
		}
		switch r.IntN(5) {
		case 0, 1, 2:
			w.create(s, path, r)
		default:
			w.claim(path, 0)
			w.note("RemoveAt %s", path)
			if r := s.RemoveAt(path); w.patient(path) {
				<-r.Done()
				w.note("RemoveAt %s: %v", path, r.Err())
			}
		}
	}
}

func (w *exactSimulation) patient(path string) bool { return path != "/y" }

func (w *exactSimulation) create(s framework.Session, path string, r *rand.Rand) {
	ctx, cancel := context.WithTimeout(w.Context(), time.Duration(1+r.IntN(10_000))*time.Millisecond)
	defer cancel()
	var replaced *zk.Stat
	if r.IntN(3) == 0 {
		stat, err := s.Exists(ctx, path)
		// Where servers may be behind, another node may have taken the place of all but the session's own.
		if err == nil && stat != nil && (w.rough || stat.EphemeralOwner == s.ID()) {
			replaced = stat
			w.want(path, stat.Czxid)
		}
	}
	w.claim(path, 0)
	w.note("CreateAt %s, instead of %+v", path, replaced)
	err := s.CreateAt(ctx, path, fmt.Append(nil, r.Int()), replaced)
	if err == nil && s.Err() == nil {
		w.claim(path, s.ID())
	}
	w.note("CreateAt %s: %v", path, err)
	if live.IsAnswer(err) || r.IntN(2) == 0 && err != nil { // otherwise it removes the node itself
		s.RemoveAt(path)
	}
}

// stranger uses the path, too. A gentle one deletes only its own node.
func (w *exactSimulation) stranger(client *framework.Client, path string, r *rand.Rand) {
	for w.running(r) {
		if w.owner(path) == w.foreign || w.rough && r.IntN(3) == 0 {
			w.note("stranger: delete %s: %v", path, client.Delete(w.Context(), path, -1))
			if r.IntN(2) == 0 {
				continue
			}
		}
		_, _, err := client.Create(w.Context(), path, nil, framework.WithMode(framework.Ephemeral))
		w.note("stranger: create %s: %v", path, err)
	}
}

// fault does something to the client's connection, its requests, or its session.
func (w *exactSimulation) fault() {
	s, err := w.Client.Session(w.Context())
	if err != nil {
		return
	}
	servers := []*zktest.Server{w.ensemble.Server(0), w.ensemble.Server(1)}
	ops := []zktest.Op{zktest.OpCreate, zktest.OpCreate2, zktest.OpDelete, zktest.OpExists, zktest.OpMulti, 0}
	creates := []zktest.Op{zktest.OpCreate, zktest.OpCreate2}
	at := servers[w.rand.IntN(2)]
	m := zktest.Match{Op: ops[w.rand.IntN(len(ops))], Session: s.ID()}
	later := time.Duration(w.rand.IntN(8000)) * time.Millisecond
	until := func(undo func()) {
		w.undo = append(w.undo, undo)
		time.AfterFunc(later, undo)
	}
	switch n := w.rand.IntN(12); n {
	case 0, 1:
		w.note("drop the request %v", m.Op)
		at.DropRequest(m)
	case 2, 3, 4:
		w.note("drop the answer to %v", m.Op)
		at.DropReply(m)
	case 5:
		w.note("hold %v for %v", m.Op, later)
		until(at.HoldRequest(m))
	case 6, 7:
		m.Op = creates[w.rand.IntN(2)]
		w.note("stall %v for %v, on a connection that ends", m.Op, later)
		until(at.Stall(m))
		time.AfterFunc(later/4, w.Link.Reset)
	case 8:
		w.note("throttle %v", m.Op)
		at.ThrottleRequest(m)
	case 9:
		w.note("cut for %v", 2*later)
		w.Link.Cut()
		w.undo = append(w.undo, w.Link.Heal)
		time.AfterFunc(2*later, w.Link.Heal)
	case 10:
		w.note("nothing may be deleted below /x for %v", later)
		_ = w.Server.SetACL("/x", zktest.ACL{Perms: zk.PermAll &^ zk.PermDelete, Scheme: "world", ID: "anyone"})
		until(func() { _ = w.Server.SetACL("/x", zktest.ACL{Perms: zk.PermAll, Scheme: "world", ID: "anyone"}) })
	case 11:
		w.note("the end of the session %#x", s.ID())
		w.Server.ExpireSession(s.ID())
	}
}
