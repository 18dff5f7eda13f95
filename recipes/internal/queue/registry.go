package queue

import (
	"path"
	"slices"
	"time"

	"github.com/gocurator/curator/framework/ranked"
	"github.com/gocurator/curator/framework/session"
	"github.com/gocurator/curator/recipes/internal/steps"
)

// A Registry is what the queues of one client have in common.
type Registry struct {
	mu       ranked.Mutex[ranked.Registry, Registry]
	grants   map[any]*Grant       // the newest by lock; the others follow it
	ourNodes map[string]bool      // by path: whether it has a grant
	refused  map[string]time.Time // directories at the end of their counters: until when
	views    map[viewKey]*sharedView
	readable map[string]bool // directories in which the client has read a node of another: see ahead.go

	observer steps.Observer // nil but in tests
}

// RegistryOf returns the registry of a client.
func RegistryOf(s Source) *Registry {
	if s == nil { // a recipe without a client refuses every call
		return newRegistry(nil)
	}
	return session.Attach(s.Attachments(), func() *Registry { return newRegistry(steps.Of(s)) })
}

func newRegistry(o steps.Observer) *Registry {
	return &Registry{
		grants: map[any]*Grant{}, ourNodes: map[string]bool{}, refused: map[string]time.Time{},
		views: map[viewKey]*sharedView{}, readable: map[string]bool{}, observer: o,
	}
}

func (r *Registry) addGrant(g *Grant) {
	r.mu.Lock()
	defer r.mu.Unlock()
	lock := g.Queue.Config.Lock
	if g.older = r.grants[lock]; g.older != nil {
		g.older.newer = g
	}
	r.grants[lock], g.listed = g, true
	if _, there := r.ourNodes[g.Node]; there { // the removal may have come first
		r.ourNodes[g.Node] = true
	}
	g.Step(steps.Granted)
}

func (r *Registry) removeGrant(g *Grant) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if !g.listed {
		return
	}
	g.Step(steps.Ungranted)
	g.listed = false
	switch lock := g.Queue.Config.Lock; {
	case g.newer != nil:
		g.newer.older = g.older
	case g.older != nil:
		r.grants[lock] = g.older
	default:
		delete(r.grants, lock)
	}
	if g.older != nil {
		g.older.newer = g.newer
	}
	g.older, g.newer = nil, nil
}

// AnyGrant reports whether an accepted grant of a lock lasts.
func (r *Registry) AnyGrant(lock any, accept func(*Grant) bool) bool {
	return slices.ContainsFunc(r.some(lock, accept), func(g *Grant) bool { return g.Err() == nil })
}

// Grants counts the accepted grants of a lock that last.
func (r *Registry) Grants(lock any, accept func(*Grant) bool) int {
	return len(slices.DeleteFunc(r.some(lock, accept), func(g *Grant) bool { return g.Err() != nil }))
}

// some returns grants to be asked without mu: asking may remove one.
func (r *Registry) some(lock any, accept func(*Grant) bool) (some []*Grant) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for g := r.grants[lock]; g != nil; g = g.older {
		if accept(g) {
			some = append(some, g)
		}
	}
	return some
}

func (r *Registry) waiting(dir, marker string) int {
	r.mu.Lock()
	defer r.mu.Unlock()
	n := 0
	for node, granted := range r.ourNodes {
		parent, name := path.Split(node)
		head, _, ok := cutNumber(name)
		if !granted && parent == ChildPath(dir, "") && ok && hasMarker(head, marker) {
			n++
		}
	}
	return n
}

// GrantNames returns the names of a lock's grants.
func (r *Registry) GrantNames(lock any) map[string]bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	names := map[string]bool{}
	for g := r.grants[lock]; g != nil; g = g.older {
		names[g.Name] = true
	}
	return names
}

func (r *Registry) addNode(node string, session int64) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.ourNodes[node] = false
	r.stepOf(steps.Queued, node, session)
}

func (r *Registry) removeNode(node string, session int64) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if _, there := r.ourNodes[node]; there {
		delete(r.ourNodes, node)
		r.stepOf(steps.Unqueued, node, session)
	}
}

// maxReadable bounds the directories that a client remembers. One more clears them.
const maxReadable = 1000

// noteReadable notes that the client has read a node of another client in a directory.
func (r *Registry) noteReadable(dir string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if len(r.readable) >= maxReadable && !r.readable[dir] {
		clear(r.readable)
	}
	r.readable[dir] = true
}

func (r *Registry) isReadable(dir string) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.readable[dir]
}

func (r *Registry) isOurs(node string) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	_, ours := r.ourNodes[node]
	return ours
}
