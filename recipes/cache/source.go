package cache

import (
	"context"
	"iter"

	"github.com/gocurator/curator/framework/session"
)

// A source reads the nodes of rounds, and watches them. Tasks are answered in their order.
type source interface {
	read(ctx context.Context, tasks []task) iter.Seq2[session.NodeRead, error]
	list(ctx context.Context, tasks []task) iter.Seq2[session.NodeRead, error]
	room() int             // how many nodes may be read in a round
	news(path string) bool // a node that was heard of is to be read
	watches(path string) bool
	forget(path string)     // the cache does not have the node
	hears(path string) bool // a change of the node was reported, and not taken yet
	check(path string)      // a watch has lost an event, or is missing
	// shows reports whether the watches have what a later listing of a node says.
	shows(path string, r session.NodeRead) bool
	stop() // leaves no watch at the server
}

// choose watches the tree, or each node by itself if the depth is 0 or the server has no watches on trees.
func (f *follower) choose(s session.Session) source {
	if f.depth == 0 || f.wrongPaths {
		return f.watchNodes(s)
	}
	t := &treeSource{reader: reader{f, s}}
	f.always = false
	f.guarded(func() { f.observer, f.refused = t, false })
	if s.WatchTree(f.absolute, t) != nil {
		return f.watchNodes(s)
	}
	return t
}

// A reader asks the servers, and watches nothing.
type reader struct {
	f *follower
	s session.Session
}

func (r reader) read(ctx context.Context, tasks []task) iter.Seq2[session.NodeRead, error] {
	part := session.ReadData
	if r.f.noData {
		part = session.ReadStat
	}
	return r.s.ReadMany(ctx, r.f.absolutes(tasks), part)
}

func (r reader) list(ctx context.Context, tasks []task) iter.Seq2[session.NodeRead, error] {
	return r.s.ReadMany(ctx, r.f.absolutes(tasks), session.ReadChildren)
}

// mostRoom is what [session.Reads.ReadMany] has under way at most.
const mostRoom = 32

// room keeps rounds short.
func (reader) room() int { return 1024 }

func (reader) news(string) bool { return true }

func (reader) watches(string) bool { return true }

func (reader) forget(string) {}

func (r reader) hears(path string) bool { return r.f.hearsOf(path) }

func (reader) check(string) {}

func (reader) shows(string, session.NodeRead) bool { return true }

func (reader) stop() {}

// absolutes returns the paths of tasks as the servers know them.
func (f *follower) absolutes(tasks []task) []string {
	paths := make([]string, len(tasks))
	for i, t := range tasks {
		paths[i] = f.absoluteOf(t.path)
	}
	return paths
}

func (f *follower) absoluteOf(path string) string {
	if path == f.root {
		return f.absolute
	}
	return join(f.absolute, f.relative(path))
}
