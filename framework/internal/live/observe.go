package live

import (
	"slices"

	"github.com/go-zookeeper/zk"

	"github.com/gocurator/curator/framework/session"
)

// observers are the observers of all directories. The functions that report may not be called under the mutex.
type observers struct {
	*base
	sweep func(dir string, children []string) // hears of each listing first
	of    map[string][]session.ChildObserver  // by directory; guarded by the mutex; its lists are replaced
}

func (all *observers) add(dir string, o session.ChildObserver) {
	all.mu.Lock()
	defer all.mu.Unlock()
	if !slices.Contains(all.of[dir], o) {
		all.of[dir] = append(slices.Clip(all.of[dir]), o)
	}
}

func (all *observers) remove(dir string, o session.ChildObserver) {
	all.mu.Lock()
	defer all.mu.Unlock()
	rest := slices.DeleteFunc(slices.Clone(all.of[dir]), func(other session.ChildObserver) bool { return other == o })
	if all.of[dir] = rest; len(rest) == 0 {
		delete(all.of, dir)
	}
}

// at returns the observers of a directory.
func (all *observers) at(dir string) []session.ChildObserver {
	all.mu.Lock()
	defer all.mu.Unlock()
	return all.of[dir]
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
		called = append(called, observers...)
	}
	all.mu.Unlock()
	for _, o := range called {
		o.Behind()
	}
}
