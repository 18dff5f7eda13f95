package queue

import (
	"sync"
	"time"
)

// A Registry is what the queues of one client have in common. It hangs on the client, and goes with it.
type Registry struct {
	mu       sync.Mutex
	grants   map[any]map[*Grant]struct{} // that last, by lock
	ourNodes map[string]struct{}         // in any queue, by path
	refused  map[string]time.Time        // directories whose counters have ended, until when
	views    map[viewKey]*sharedView     // in use, or were a moment ago
}

type registryKey struct{}

// RegistryOf returns the registry of a client.
func RegistryOf(s Source) *Registry {
	if s == nil { // a recipe without a client refuses every call
		return newRegistry()
	}
	r, _ := s.Attach(registryKey{}, func() any { return newRegistry() }).(*Registry)
	return r
}

func newRegistry() *Registry {
	return &Registry{
		grants: map[any]map[*Grant]struct{}{}, ourNodes: map[string]struct{}{}, refused: map[string]time.Time{},
		views: map[viewKey]*sharedView{},
	}
}

// Entries is how many entries there are. None is left when all is over.
func (r *Registry) Entries() int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return len(r.grants) + len(r.ourNodes) + len(r.refused) + len(r.views)
}

func (r *Registry) addGrant(g *Grant) {
	r.mu.Lock()
	defer r.mu.Unlock()
	lock := g.Queue.Config.Lock
	if r.grants[lock] == nil {
		r.grants[lock] = map[*Grant]struct{}{}
	}
	r.grants[lock][g] = struct{}{}
}

func (r *Registry) removeGrant(g *Grant) {
	r.mu.Lock()
	defer r.mu.Unlock()
	lock := g.Queue.Config.Lock
	delete(r.grants[lock], g)
	if len(r.grants[lock]) == 0 {
		delete(r.grants, lock)
	}
}

// AnyGrant reports whether a grant of a lock, among those accepted, lasts.
func (r *Registry) AnyGrant(lock any, accept func(*Grant) bool) bool {
	r.mu.Lock()
	var some []*Grant
	for g := range r.grants[lock] {
		if accept(g) {
			some = append(some, g)
		}
	}
	r.mu.Unlock()
	for _, g := range some { // without mu: a grant that finds its time up removes itself
		if g.Err() == nil {
			return true
		}
	}
	return false
}

// GrantNames returns the names of the nodes of a lock's grants.
func (r *Registry) GrantNames(lock any) map[string]bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	names := map[string]bool{}
	for g := range r.grants[lock] {
		names[g.Name] = true
	}
	return names
}

func (r *Registry) addNode(path string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.ourNodes[path] = struct{}{}
}

func (r *Registry) removeNode(path string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	delete(r.ourNodes, path)
}

func (r *Registry) isOurs(path string) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	_, ours := r.ourNodes[path]
	return ours
}
