//go:build linux

package interop_test

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"path"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/framework/zktest/await"
)

// A cacheRun has writers of both languages change a tree at random, while the caches of it lose their connections and
// their sessions. At the end of each round the writers pause: then all caches must have, and must have reported, what
// the server has.
type cacheRun struct {
	*world
	root       string
	random     *rand.Rand
	replicas   []*replica
	writers    []writer
	guest      *framework.Client // has ephemeral nodes
	made       atomic.Int64      // changes, or attempts
	faults     map[string]int
	never      map[string]int64 // nodes that CuratorCache does not get, and their czxids
	unreported map[string]int64 // nodes that it has without an event
}

// rushed is the number of changes that the writers make between two faults, or while one lasts, at most.
const rushed = 100

func TestRandomChangesReachCaches(t *testing.T) {
	seed := *randomSeed
	if seed == 0 {
		seed = rand.Uint64()
	}
	t.Logf("-seed %d", seed)
	r := &cacheRun{
		world: newWorld(t), root: "/" + name("random"), random: rand.New(rand.NewPCG(seed, 2)),
		faults: map[string]int{}, never: map[string]int64{}, unreported: map[string]int64{},
	}
	r.replicas = []*replica{
		r.ourCache(newProxy(t, r.addr), r.root, 0),
		r.javaCache(curatorCache, newProxy(t, r.addr), r.root, 0),
		r.javaCache(treeCache, newProxy(t, r.addr), r.root, 0),
	}
	r.guest = r.ourClient(r.addr)
	r.writers = []writer{
		r.javaWriter(), r.ourWriter(r.ourClient(r.addr), framework.Persistent), r.ourWriter(r.guest, framework.Ephemeral),
	}
	rounds, began := 0, time.Now()
	for budget := time.Duration(*acquisitions) * time.Second / 60; time.Since(began) < budget; rounds++ {
		r.round()
	}
	fmt.Fprintf(t.Output(), "%d changes in %d rounds in %v; faults %v\n", r.made.Load(), rounds, time.Since(began).Round(time.Millisecond), r.faults)
	fmt.Fprintf(t.Output(), "CuratorCache never had %d nodes, and did not report %d\n", len(r.never), len(r.unreported))
	for _, one := range r.replicas {
		fmt.Fprintf(t.Output(), "%s: %d events, %d of them wrong\n", one.kind, len(one.log.events), len(one.log.problems))
		for _, problem := range one.log.problems[:min(len(one.log.problems), 5)] {
			if one.kind != treeCache {
				t.Errorf("%s: %s", one.kind, problem)
			}
		}
		if got, want := len(one.log.events), 10*rounds; got < want {
			t.Errorf("%s: got %d events, want %d in %d rounds, at least", one.kind, got, want, rounds)
		}
	}
}

// round has the writers write while a few faults happen, and waits until the caches have the outcome.
func (r *cacheRun) round() {
	r.t.Helper()
	stop := make(chan struct{})
	var writing sync.WaitGroup
	for _, write := range r.writers {
		random := rand.New(rand.NewPCG(r.random.Uint64(), 0))
		writing.Go(func() {
			for {
				select {
				case <-stop:
					return
				default:
					r.change(write, random)
				}
			}
		})
	}
	for range r.random.IntN(4) {
		r.awaitChanges()
		if r.random.IntN(10) == 0 {
			r.faults["session over of a writer"]++
			r.takeSession(r.sessionOf(r.guest))
		} else {
			r.fault(r.replicas[r.random.IntN(len(r.replicas))])
		}
	}
	r.awaitChanges()
	close(stop)
	writing.Wait()
	want := r.nodes(r.root, 0)
	for _, one := range r.replicas {
		r.awaitReported(one, want)
	}
}

// change creates or sets a node at random, or deletes it with all below it; rarely the root.
func (r *cacheRun) change(write writer, random *rand.Rand) {
	node := r.root
	if random.IntN(100) > 0 {
		for range 1 + random.IntN(4) {
			node = path.Join(node, string(rune('a'+random.IntN(3))))
		}
	}
	data := fmt.Sprint(random.IntN(1000))
	if random.IntN(5) == 0 {
		write(node, nil)
	} else {
		write(node, &data)
	}
	r.made.Add(1)
}

// awaitChanges waits for some changes, or for none.
func (r *cacheRun) awaitChanges() {
	r.t.Helper()
	want := r.made.Load() + r.random.Int64N(rushed)
	await.Until(r.t, patience, "the writers to make changes", func() bool { return r.made.Load() >= want })
}

// fault does something to the connection or the session of a cache.
func (r *cacheRun) fault(one *replica) {
	r.t.Helper()
	faults := []string{"cut", "away", "frozen link", "session over"}
	fault := faults[r.random.IntN(len(faults))]
	r.faults[fault+" of "+one.kind]++
	switch fault {
	case "cut":
		one.link.cutAll()
	case "away":
		one.link.refuse(true)
		one.link.cutAll()
		r.awaitChanges()
		one.link.refuse(false)
	case "frozen link":
		one.link.freeze()
		r.awaitChanges()
		one.link.thaw()
	default:
		session := one.session()
		one.link.refuse(true)
		one.link.cutAll()
		r.awaitChanges()
		r.takeSession(session)
		one.link.refuse(false)
	}
}

// awaitReported waits until a cache has a tree and, but for TreeCache, has reported it.
func (r *cacheRun) awaitReported(one *replica, want nodeTree) {
	r.t.Helper()
	var lacks string
	lost := time.Now().Add(time.Second / 2)
	if !await.Within(patience, func() bool {
		stored, reported := one.nodes(), one.log.reported()
		if one.kind == treeCache && len(stored) == 0 && time.Now().After(lost) { // for ever: see losesRoot
			r.faults["reconnection of TreeCache without a root"]++
			lost = lost.Add(patience)
			one.link.cutAll()
		}
		has, told := want, want
		switch one.kind {
		case curatorCache:
			has, told = r.excuse(one, stored, reported, want)
		case treeCache: // its events do not add up: see the documentation of the package
			told = reported
		}
		lacks = apart(stored, has) + apart(reported, told)
		return lacks == ""
	}) {
		await.Fatalf(r.t, "%s to have, and to have reported, the server's tree:\n%s", one.kind, lacks)
	}
}

// excuse is what CuratorCache must have of a tree, and what it must have reported. It may take a node that was deleted
// and created again for the one before it: then it may not report the node, and may never get its children.
func (r *cacheRun) excuse(one *replica, stored, reported, want nodeTree) (has, told nodeTree) {
	has, told = nodeTree{}, nodeTree{}
	for _, name := range slices.Sorted(maps.Keys(want)) { // parents before their children
		node, parent := want[name], path.Dir(name)
		_, there := stored[name]
		missed := name != "/" && r.never[parent] == want[parent].Czxid
		if !there && (missed || one.log.mistook(parent, want[parent])) {
			r.never[name] = node.Czxid
			continue
		}
		has[name], told[name] = node, node
		if before := reported[name]; one.log.unreported(node, before) {
			told[name] = before
			r.unreported[name] = node.Czxid
		}
	}
	return has, told
}
