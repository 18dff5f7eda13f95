package live

import (
	"maps"
	"slices"

	"github.com/go-zookeeper/zk"

	"github.com/gocurator/curator/framework/session"
)

// observers are the observers of all directories. The functions that report may not be called under the mutex.
type observers struct {
	*base
	sweep func(dir string, children []string)           // hears of each listing first
	of    map[string]map[session.ChildObserver]struct{} // by directory; guarded by the mutex
}

func (all *observers) add(dir string, o session.ChildObserver) {
	all.mu.Lock()
	defer all.mu.Unlock()
	if all.of[dir] == nil {
		all.of[dir] = map[session.ChildObserver]struct{}{}
	}
	all.of[dir][o] = struct{}{}
}

func (all *observers) remove(dir string, o session.ChildObserver) {
	all.mu.Lock()
	defer all.mu.Unlock()
	delete(all.of[dir], o)
	if len(all.of[dir]) == 0 {
		delete(all.of, dir)
	}
}

// at returns the observers of a directory.
func (all *observers) at(dir string) []session.ChildObserver {
	all.mu.Lock()
	defer all.mu.Unlock()
	if len(all.of[dir]) == 0 {
		return nil
	}
	return slices.Collect(maps.Keys(all.of[dir]))
}

// listed reports a listing whose names belong to the caller.
func (all *observers) listed(dir string, children []string, stat *zk.Stat) {
	all.sweep(dir, children)
	for _, o := range all.at(dir) {
		o.Listed(slices.Clone(children), stat)
	}
}

func (all *observers) created(path string) {
	dir, name := split(path)
	for _, o := range all.at(dir) {
		o.Created(name)
	}
}

func (all *observers) gone(path string) {
	dir, name := split(path)
	for _, o := range all.at(dir) {
		o.Gone(name)
	}
}

func (all *observers) behind() {
	all.mu.Lock()
	var called []session.ChildObserver
	for _, observers := range all.of {
		called = slices.AppendSeq(called, maps.Keys(observers))
	}
	all.mu.Unlock()
	for _, o := range called {
		o.Behind()
	}
}
