package locks

import (
	"sync"

	"github.com/gocurator/curator/framework"
)

// held are the grants of this process, by lock.
var held grants

type grants struct {
	mu     sync.Mutex
	byLock map[identity]map[*grant]struct{}
}

func (gs *grants) add(g *grant) {
	gs.mu.Lock()
	defer gs.mu.Unlock()
	if gs.byLock == nil {
		gs.byLock = map[identity]map[*grant]struct{}{}
	}
	if gs.byLock[g.id] == nil {
		gs.byLock[g.id] = map[*grant]struct{}{}
	}
	gs.byLock[g.id][g] = struct{}{}
}

func (gs *grants) remove(g *grant) {
	gs.mu.Lock()
	defer gs.mu.Unlock()
	delete(gs.byLock[g.id], g)
	if len(gs.byLock[g.id]) == 0 {
		delete(gs.byLock, g.id)
	}
}

// any reports whether a grant of that lock, among those accepted, lasts.
func (gs *grants) any(id identity, accept func(*grant) bool) bool {
	gs.mu.Lock()
	var some []*grant
	for g := range gs.byLock[id] {
		if accept(g) {
			some = append(some, g)
		}
	}
	gs.mu.Unlock()
	for _, g := range some { // without mu: a grant that finds its time up removes itself
		if g.err() == nil {
			return true
		}
	}
	return false
}

// own are the nodes in any queue that clients of this process have made, to tell who waits behind himself.
var own nodes

type nodes struct {
	mu     sync.Mutex
	byPath map[string]*framework.Client
}

func (ns *nodes) add(client *framework.Client, path string) {
	ns.mu.Lock()
	defer ns.mu.Unlock()
	if ns.byPath == nil {
		ns.byPath = map[string]*framework.Client{}
	}
	ns.byPath[path] = client
}

func (ns *nodes) remove(path string) {
	ns.mu.Lock()
	defer ns.mu.Unlock()
	delete(ns.byPath, path)
}

func (ns *nodes) has(client *framework.Client, path string) bool {
	ns.mu.Lock()
	defer ns.mu.Unlock()
	return ns.byPath[path] == client
}
