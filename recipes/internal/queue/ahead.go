package queue

import (
	"sync/atomic"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/framework/session"
)

// A contender begins to wait with one request, which watches its own node and the nodes ahead (all of them if there are
// at most three, otherwise the two nearest) and reads none. The contender knows them as of its own creation, and needs
// no older news. The data of its own node is what it has created, unless View shows other data
// (framework/internal/watches/set.go).
//
// With all nodes ahead watched, the contender needs no second listing, because its view lacks no node ahead and hears
// of the end of each, in whatever order. With more nodes ahead it lists again when the next nearest has gone, because
// any of the others may have gone.
//
// The limit is three because the two nearest are watched in any case, a further watch costs an event for each node
// ahead, and four processes that take turns at one lock have three ahead.
//
// A watch without a read is not refused on a node that the client may not read, but its event is dropped (S7). So the
// contender has a node read unless it knows better, or waits for it later, when that takes a request in any case.
//
//   - It knows its own node by the ACL with which the client created it. If that lets anyone read, the server reports
//     the removal on any connection, with any identity. A view admits by nothing else (rule 3), so what the client may
//     read elsewhere, or could read earlier, is no proof. A node with another ACL is read by each contender. If that is
//     refused, the view is not Current, and the contender lists the queue. Only a change of the ACL breaks this, as it
//     breaks a watch that was set by a read.
//   - Of the nodes of others it knows that the client has read one in this directory: the first wait of a client in a
//     directory reads the node that it waits for, and watches no further one. If the contenders of the directory have
//     several ACLs, and the client may not read another of the nodes, it hears of that node's end only by the first
//     late read, after an eighth of a session timeout at most. From then on the client sets no watch without a read, in
//     any directory (framework/internal/watches/set.go), so this happens once. A shorter wait that ends without a grant
//     has the node read at its end, and others may fail until the answer. No contender is admitted by this; it only
//     waits longer.

// An aheadNode is a node ahead that a contender watches so that the view hears of its end.
type aheadNode struct {
	name  string
	watch session.Watch
}

// watched are the nodes ahead that a contender watches when it begins to wait. Behind readers, which end in any order,
// it is one node, and the next one is read when that has gone. The answer shows a transaction from after the ends so
// far, which proves them in the record of the acquire, where events would not.
func (d Decision) watched() []string {
	if d.readers {
		return []string{d.Awaited()}
	}
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
	nodes = append(nodes, session.WatchedNode{Path: c.node, Wake: c.Waiter.Signal, Readable: c.public})
	readable := c.queue.Registry.isReadable(c.queue.Config.Dir)
	for _, name := range names {
		n := session.WatchedNode{Path: c.queue.Child(name), Wake: func() {}, Readable: readable, Optional: true}
		if name == awaited {
			n.Wake, n.Optional, n.Doubtful = c.Waiter.Signal, false, true
		}
		nodes = append(nodes, n)
	}
	watches := c.Session.WatchDataSince(c.fence.Token, nodes...)
	c.selfWatch = watches[0]
	for i, name := range names {
		switch watch := watches[1+i]; {
		case name == awaited:
			c.watch(watch, name)
		case watch != nil:
			c.alsoWatched = append(c.alsoWatched, aheadNode{name, watch})
		}
	}
}

// noteRead notes by the view of a node ahead that this client may read the nodes of others. (If the node is from an
// earlier session of this client, the case of several ACLs above comes sooner.) Some servers show the Stat of a node
// that may not be read, but then the client sets no more watches without a read.
func (c *Contender) noteRead(view session.View) {
	if c.watched != "" && view.Stat != nil && !view.Own {
		c.queue.Registry.noteReadable(c.queue.Config.Dir)
	}
}

// readUnheard reads the awaited node after a wait without a grant, if no read has shown it: the client may have missed
// its end, because it may not read the node. It does not wait for the answer.
func (c *Contender) readUnheard() {
	if c.Grant != nil || c.watched == "" {
		return
	}
	if view := c.aheadWatch.View(); view.Status != framework.StatusPresent || view.Stat != nil {
		return
	}
	var reading atomic.Pointer[session.Watch]
	stop := func() {
		if w := reading.Load(); w != nil && (*w).View().Pending.IsZero() {
			(*w).Stop()
		}
	}
	w := c.watchNode(c.queue.Child(c.watched), stop)
	w.ReadAgain()
	reading.Store(&w)
	stop() // the answer may have come before, or there may be no connection to read by
}

// watchNode watches one node, without a request if it is one of those above.
func (c *Contender) watchNode(path string, wake func()) session.Watch {
	return c.Session.WatchDataSince(c.fence.Token, session.WatchedNode{Path: path, Wake: wake, Doubtful: true})[0]
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
