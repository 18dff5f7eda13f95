package porttest

import (
	"context"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/gocurator/curator/framework/zktest/await"
	"github.com/gocurator/curator/recipes/locks/lockstest"
)

// Rounds is how long the programs run: each round is a storm of changes and faults, and a quiet moment.
type Rounds struct {
	Seed     uint64
	N        int // rounds
	Steps    int // changes of each process in a round
	Services int // how many the registry has
}

// Run runs the three programs on a backend.
func Run(t *testing.T, backend lockstest.Backend, rounds Rounds) {
	t.Helper()
	for _, each := range []struct {
		name  string
		start startFunc
	}{{"registry", startRegistry}, {"inventory", startInventory}, {"tokens", new(stores).start}} {
		t.Run(each.name, func(t *testing.T) {
			backend.Run(t, func(t *testing.T, server lockstest.Server) {
				w := &world{
					t: t, server: server, Rounds: rounds, root: "/" + each.name, start: each.start,
					unit: time.Second, patience: 2 * time.Minute, dice: rand.New(rand.NewPCG(rounds.Seed, 0)),
				}
				if _, realTime := backend.MissingCapabilities()[lockstest.Bubble]; realTime {
					w.unit = 20 * time.Millisecond
				}
				w.run()
			})
		})
	}
}

// A world is a server and the processes that use it.
type world struct {
	t      *testing.T
	server lockstest.Server
	Rounds
	root           string
	start          startFunc
	unit, patience time.Duration // what a step takes at most, and what may take long
	dice           *rand.Rand
	processes      []*process
}

// run begins with two processes. One more joins in each round, while the others change things.
func (w *world) run() {
	w.t.Helper()
	w.join(0)
	for range 5 * w.Steps {
		w.processes[0].step(w.t.Context())
	}
	w.wantAll()
	p := w.join(1)
	if differs := difference(p.has(), p.wants(w.tree(false))); differs != "" {
		w.t.Fatalf("seed %d: %s has started: %s", w.Seed, p.name, differs)
	}
	for round := range w.N {
		w.storm(round == 0)
		w.wantAll()
	}
	w.end()
}

// storm has each process change things while faults befall them, and another process join them. The server may restart
// meanwhile.
func (w *world) storm(restart bool) {
	var changing sync.WaitGroup
	stormy := slices.Clone(w.processes)
	for _, p := range stormy {
		changing.Go(func() {
			for range w.Steps {
				p.step(w.t.Context())
				time.Sleep(time.Duration(p.dice.Int64N(int64(w.unit))))
			}
		})
	}
	for i := range w.Steps {
		time.Sleep(time.Duration(w.dice.Int64N(int64(w.unit))))
		w.fault(stormy[w.dice.IntN(len(stormy))])
		switch {
		case i == w.Steps/2:
			w.join(len(w.processes))
		case i == w.Steps/4 && restart:
			w.server.Restart()
		}
	}
	for _, p := range stormy {
		p.link.Heal()
	}
	changing.Wait()
}

// fault is one of those that a cache must survive.
func (w *world) fault(p *process) {
	switch w.dice.IntN(8) {
	case 0:
		p.link.Cut()
	case 1:
		p.link.Reset()
	case 2:
		p.link.Mute()
	case 3:
		w.endSession(p)
	case 4:
		p.link.DropReply(lockstest.Create)
	case 5:
		p.link.DropReply(lockstest.GetData)
	default:
		p.link.Heal()
	}
}

// endSession ends the session that a process has, if it is connected.
func (w *world) endSession(p *process) {
	ctx, cancel := context.WithCancel(w.t.Context())
	cancel()
	if s, err := p.Session(ctx); err == nil && s.Connected() {
		w.server.ExpireSession(p.link, s.ID())
	}
}

// wantAll waits until the servers have all that is announced, and each process knows what the servers have.
func (w *world) wantAll() {
	w.t.Helper()
	announced := map[string]string{}
	for _, p := range w.processes {
		if p.announcer != nil {
			maps.Copy(announced, p.announcer.Wanted())
		}
	}
	w.want("the servers", func() string { return difference(w.tree(true), announced) })
	for _, p := range w.processes {
		w.want(p.name, func() string { return difference(p.has(), p.wants(w.tree(false))) })
		for _, c := range p.caches() {
			if n := c.Stats().Found; n != 0 {
				w.t.Errorf("seed %d: %s: %d differences were not reported by events", w.Seed, p.name, n)
			}
		}
	}
}

func (w *world) want(who string, differs func() string) {
	w.t.Helper()
	var text string
	if !await.Within(w.patience, func() bool { text = differs(); return text == "" }) {
		w.t.Fatalf("seed %d: %s: %s", w.Seed, who, text)
	}
}

// tree returns the data of the nodes below the root, by their paths: of all, or of those that belong to a session.
func (w *world) tree(ephemeral bool) map[string]string {
	nodes := map[string]string{}
	var walk func(path string)
	walk = func(path string) {
		if stat := w.server.Stat(path); stat != nil && (stat.EphemeralOwner != 0 || !ephemeral) {
			nodes[path] = string(w.server.Data(path))
		}
		for _, name := range w.server.Children(path) {
			walk(path + "/" + name)
		}
	}
	walk(w.root)
	return nodes
}

// end closes the programs, which closes all caches, and then the clients. No watch may be left in between.
func (w *world) end() {
	w.t.Helper()
	for _, p := range w.processes {
		p.close()
	}
	if !await.Within(w.patience, func() bool { return w.server.AllWatches() == 0 }) {
		w.t.Errorf("seed %d: %d watches are left of caches that were closed", w.Seed, w.server.AllWatches())
	}
	for _, p := range w.processes {
		_ = p.Close()
	}
}

// difference describes how two maps differ, in a line for each key.
func difference(got, want map[string]string) string {
	var lines []string
	for key, g := range got {
		if w, ok := want[key]; !ok {
			lines = append(lines, fmt.Sprintf("%s: got %q, want none", key, g))
		} else if g != w {
			lines = append(lines, fmt.Sprintf("%s: got %q, want %q", key, g, w))
		}
	}
	for key, w := range want {
		if _, ok := got[key]; !ok {
			lines = append(lines, fmt.Sprintf("%s: got none, want %q", key, w))
		}
	}
	slices.Sort(lines)
	return strings.Join(lines, "\n")
}
