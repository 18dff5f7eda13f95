package queue

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
)

// The grants of a lock are those that were added and not removed, whatever the order, and whatever is repeated.
func TestRegistryHasTheGrantsOfEachLock(t *testing.T) {
	const seed = 1
	random := rand.New(rand.NewPCG(seed, seed))
	r := newRegistry(nil)
	var all []*Grant
	for i := range 12 {
		q := &Queue{Config: Config{Lock: i % 2}, Registry: r}
		all = append(all, &Grant{Queue: q, Name: fmt.Sprint(i)})
	}
	want := map[*Grant]bool{}
	for step := range 2000 {
		g := all[random.IntN(len(all))]
		if want[g] || random.IntN(4) == 0 {
			r.removeGrant(g)
			delete(want, g)
		} else {
			r.addGrant(g)
			want[g] = true
		}
		for lock := range 2 {
			got := r.some(lock, func(*Grant) bool { return true })
			names := r.GrantNames(lock)
			for i, g := range all {
				there := i%2 == lock && want[g]
				if slices.Contains(got, g) != there || names[g.Name] != there {
					t.Fatalf("seed %d, step %d, lock %d: got grants %v, want grant %d among them: %t", seed, step, lock, names, i, there)
				}
			}
			if _, kept := r.grants[lock]; kept != (len(got) > 0) {
				t.Fatalf("seed %d, step %d: got an entry of lock %d: %t, want one while it has a grant", seed, step, lock, kept)
			}
		}
	}
}

// A session may end between the binding of a grant and its entry: the node is removed first.
func TestGrantThatComesAfterTheRemovalOfItsNodeLeavesNothing(t *testing.T) {
	r := newRegistry(nil)
	g := &Grant{Queue: &Queue{Config: Config{Lock: "lock"}, Registry: r}, Node: "/lock/node"}
	for _, removedFirst := range []bool{false, true} {
		r.addNode(g.Node, 1)
		if removedFirst {
			r.removeNode(g.Node, 1)
		}
		r.addGrant(g)
		if got := r.isOurs(g.Node); got == removedFirst {
			t.Errorf("removed before the grant %t: got a node of the client's %t, want %t", removedFirst, got, !removedFirst)
		}
		r.removeGrant(g)
		r.removeNode(g.Node, 1)
	}
}

func TestRegistryRemembersABoundedNumberOfReadableDirectories(t *testing.T) {
	r := newRegistry(nil)
	for i := range 5 * maxReadable {
		dir := fmt.Sprint("/", i)
		if r.isReadable(dir) {
			t.Errorf("%s: got a directory in which the client has read a node, want none", dir)
		}
		r.noteReadable(dir)
		r.noteReadable(dir)
		if !r.isReadable(dir) || len(r.readable) > maxReadable {
			t.Fatalf("got %d directories, with %s %t, want at most %d, with it", len(r.readable), dir, r.isReadable(dir), maxReadable)
		}
	}
}
