// Package simtest is where simulations happen: servers in memory, clients with network paths of their own, and faults
// at random. What the clients do there, and what must hold then, is the recipe's.
package simtest

import (
	"context"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/gocurator/curator/framework/zktest"
	"github.com/gocurator/curator/recipes/journaltest"
)

// SessionTimeout is the session timeout of all clients.
const SessionTimeout = 10 * time.Second

// limitedSeeds is 4: in every fourth seed clients ask for longer sessions at first, and the limits of servers change at
// restarts, elections and handshakes whose answers are lost, but are never below what a server has granted every client
// before.
const limitedSeeds = 4

// An Env is the surroundings of one simulation.
type Env struct {
	T        *testing.T
	Seed     uint64
	Ensemble *zktest.Ensemble
	Peers    []*Peer
	Journal  journaltest.Journal

	path    string
	start   time.Time
	replies int // how many of the replies may be lost

	isolated atomic.Bool // a server was isolated
	raised   atomic.Bool // the limits changed last were raised

	mu        sync.Mutex
	events    []event
	checks    int // how often a cache was checked
	calmUntil time.Time
	touched   []time.Time // see Touched
}

// New makes an Env of so many servers, with a recipe at path. It ends with the test.
func New(t *testing.T, seed uint64, servers int, path string) *Env {
	t.Helper()
	version := []string{"3.8.6", "3.9.5"}[seed%2]
	e := &Env{
		T: t, Seed: seed, Ensemble: zktest.NewEnsemble(servers, zktest.WithVersion(version)), path: path, start: time.Now(),
		replies: ofLocks,
	}
	t.Cleanup(func() { _ = e.Ensemble.Close() })
	e.Ensemble.Leader().ObserveTransactions(e.Journal.Transaction)
	e.limitAll(SessionTimeout)
	return e
}

// Limited reports whether limits change in this seed.
func (e *Env) Limited() bool { return e.Seed%limitedSeeds == 0 }

// limit sets the longest session that a server grants, if limits change in this seed.
func (e *Env) limit(server *zktest.Server, most time.Duration) {
	if e.Limited() {
		server.SetSessionTimeouts(time.Second, most)
	}
}

// changeLimit raises the limit of one server, and lowers that of the next.
func (e *Env) changeLimit(server *zktest.Server) {
	if e.raised.Swap(!e.raised.Load()) {
		e.limit(server, SessionTimeout)
	} else {
		e.limit(server, 3*SessionTimeout)
	}
}

func (e *Env) limitAll(most time.Duration) {
	for i := range e.Ensemble.Size() {
		e.limit(e.Ensemble.Server(i), most)
	}
}

// Dice make the choices of one actor: what others do at the same moment does not change them.
type Dice struct{ rand *rand.Rand }

// Dice returns those of the actor with the number n. Number 1 is Run's.
func (e *Env) Dice(n int) Dice { return Dice{rand.New(rand.NewPCG(e.Seed, uint64(n)))} }

// Pick chooses from 0 to n-1.
func (d Dice) Pick(n int) int { return d.rand.IntN(n) }

// Some is a time of whole milliseconds, less than most.
func (d Dice) Some(most time.Duration) time.Duration {
	return time.Duration(d.Pick(int(most/time.Millisecond))) * time.Millisecond
}

// Run waits until the actors are done, with faults meanwhile if the simulation is faulty, and closes the clients. It
// fails the test if an actor waits for ever, or if then a node or a watch is left at the servers, against G5 and G4.
func (e *Env) Run(actors *sync.WaitGroup, faulty bool) {
	e.T.Helper()
	stop, done := make(chan struct{}), make(chan struct{})
	var faults sync.WaitGroup
	if faulty {
		given, err := e.givenFaults()
		if err != nil {
			e.T.Error(err)
		}
		faults.Go(func() { e.storm(given, stop) })
	}
	following, unfollow := context.WithCancel(e.T.Context())
	var caches sync.WaitGroup
	followers := e.followers()
	for i, f := range followers {
		dice := e.Dice(-1 - i)
		caches.Go(func() { f.follow(following, dice) })
	}
	go func() { actors.Wait(); close(done) }()
	select {
	case <-done:
	case <-time.After(6 * time.Hour):
		e.T.Errorf("seed %d: an actor waits for ever; nodes %v", e.Seed, e.Ensemble.Leader().Children(e.path))
	}
	close(stop)
	faults.Wait()
	e.heal()
	unfollow()
	caches.Wait()
	for _, f := range followers {
		f.checkEnd()
	}
	e.checkResidue()
	for _, p := range e.peers() {
		_ = p.Close()
	}
	<-done
	e.checkJournal()
}

// stepsBefore is how many entries of the journal a history has before a problem.
const stepsBefore = 30

// checkJournal checks what happened, and that nothing is left of it once the clients have let go. What led to a problem
// goes into the history.
func (e *Env) checkJournal() {
	time.Sleep(2 * time.Minute) // what is kept for a while goes
	events := e.Journal.Events()
	noted := 0
	for _, problem := range journaltest.Check(events, journaltest.Servers{}) {
		e.T.Errorf("seed %d: %v", e.Seed, problem)
		for _, entry := range events[max(noted, problem.Event-stepsBefore):max(noted, problem.Event+1)] {
			e.addAt(entry.At, event{Lane: entry.Lane(), Text: entry.String()})
		}
		noted = max(noted, problem.Event+1)
		e.addAt(problem.At, event{Lane: "journal", Text: journaltest.WithoutGUIDs(problem.Text)})
	}
	for _, left := range journaltest.Left(events) {
		e.T.Errorf("seed %d: there is left: %s", e.Seed, left)
	}
}

// checkResidue gives removals the time that they may take after a fault.
func (e *Env) checkResidue() {
	var nodes []string
	var watches int
	for range 100 {
		nodes, watches = e.Ensemble.Leader().Children(e.path), 0
		for i := range e.Ensemble.Size() {
			watches += e.Ensemble.Server(i).WatchCount()
		}
		if len(nodes) == 0 && watches == 0 {
			return
		}
		time.Sleep(SessionTimeout / 20)
	}
	e.T.Errorf("seed %d: there are nodes %v and %d watches left", e.Seed, nodes, watches)
}
