package lockstest

import (
	"slices"

	"github.com/go-zookeeper/zk"

	"github.com/gocurator/curator/recipes/locks"
)

// dirs are the directories of the lock.
func (w *world) dirs() []string {
	if w.recipe.Dirs == nil {
		return []string{w.path}
	}
	return w.recipe.Dirs(w.path)
}

// nodes returns the paths of all nodes in the directories of the lock, but for these directories.
func (w *world) nodes() []string {
	dirs := w.dirs()
	var all []string
	for _, dir := range dirs {
		for _, name := range w.server.Children(dir) {
			if path := dir + "/" + name; !slices.Contains(dirs, path) {
				all = append(all, path)
			}
		}
	}
	slices.Sort(all)
	return all
}

// added returns the nodes that are there now and were not before.
func (w *world) added(before []string) []string {
	return slices.DeleteFunc(w.nodes(), func(path string) bool { return slices.Contains(before, path) })
}

// node returns the path of a lease's node.
func (w *world) node(l *locks.Lease) string {
	w.t.Helper()
	for _, dir := range w.dirs() {
		path := dir + "/" + l.NodeName()
		if w.server.Stat(path) != nil {
			return path
		}
	}
	w.t.Fatalf("the lease's node %s is not there", l.NodeName())
	return ""
}

// stat returns the Stat of a lease's node.
func (w *world) stat(l *locks.Lease) *zk.Stat {
	w.t.Helper()
	return w.server.Stat(w.node(l))
}
