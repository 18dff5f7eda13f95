package queue

import "github.com/gocurator/curator/framework/session"

// A contender begins to wait with one request, which sets the watches on its own node and on nodes ahead: on all of
// them if at most three are ahead, otherwise on the two nearest. None is read. The contender knows them as of its own
// creation: it needs no older news of a node ahead, and the data of its own node is what it has created, unless View
// shows other data (framework/internal/watches/set.go).
//
// With all nodes ahead watched, the contender needs no second listing. Its view lacks no node ahead of it, hears of the
// end of each, and has no deleted ones but for those whose events are on their way. So the view says which node to wait
// for, in whatever order the nodes end. With more nodes ahead it lists once more, when the next nearest has gone: the
// others may all have gone meanwhile, or none.
//
// Why three: the nearest and the next nearest are watched in any case, and a further watch costs an event for each node
// ahead. Four processes that take turns at one lock have three ahead.

// An aheadNode is a node ahead that a contender watches so that the view hears of its end.
type aheadNode struct {
	name  string
	watch session.Watch
}

// watched are the nodes ahead that a contender watches when it begins to wait.
func (d Decision) watched() []string {
	names := []string{d.Predecessor}
	if d.Awaited() != d.Predecessor {
		names = append(names, d.NextAhead)
		if d.First != "" {
			names = append(names, d.First)
		}
	}
	return names
}

// watchTogether sets the contender's watches in one request. Only its own node and the node that it waits for wake it.
func (c *Contender) watchTogether(d Decision) {
	if c.selfWatch != nil {
		return
	}
	names, awaited := d.watched(), d.Awaited()
	nodes := make([]session.WatchedNode, 0, 1+len(names))
	nodes = append(nodes, session.WatchedNode{Path: c.node, Wake: c.Waiter.Signal})
	for _, name := range names {
		wake := func() {}
		if name == awaited {
			wake = c.Waiter.Signal
		}
		nodes = append(nodes, session.WatchedNode{Path: c.queue.Child(name), Wake: wake})
	}
	watches := c.Session.WatchDataSince(c.fence.Token, nodes...)
	c.selfWatch = watches[0]
	for i, name := range names {
		if name == awaited {
			c.watch(watches[1+i], name)
		} else {
			c.alsoWatched = append(c.alsoWatched, aheadNode{name, watches[1+i]})
		}
	}
}

// watchNode watches one node, without a request if it is one of those above.
func (c *Contender) watchNode(path string) session.Watch {
	return c.Session.WatchDataSince(c.fence.Token, session.WatchedNode{Path: path, Wake: c.Waiter.Signal})[0]
}

// watchesAll reports whether the contender has nodes ahead, and watches all of them.
func (c *Contender) watchesAll(d Decision) bool {
	watched := 0
	for _, n := range c.alsoWatched {
		if n.name == d.Predecessor || n.name == d.NextAhead || n.name == d.First {
			watched++
		}
	}
	return watched > 0 && watched == d.Ahead
}

func (c *Contender) stopAlsoWatched() {
	for _, n := range c.alsoWatched {
		n.watch.Stop()
	}
}
