package queue

import (
	"sync/atomic"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/framework/session"
)

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
//
// A watch without a read says nothing of a node that the client may not read: the request is not refused, and since
// 3.8.4 and 3.9.2 the event is dropped (S7). So the contender has a node read unless it knows better.
//
//   - Its own node it knows by the ACL with which the client has created it: if that lets anyone read, the server
//     reports the removal on any connection, with any identity. A view admits by nothing else (rule 3), so the proof
//     must not rest on what the client may read elsewhere, or could read on an earlier connection. A node with another
//     ACL is read, by each contender: if that is refused, the view is not Current, and the contender lists the queue.
//     Only a change of the ACL breaks this, as it breaks a watch that was set by a read.
//   - Of the nodes of others it knows that the client has read one in this directory. The first wait of a client in a
//     directory reads the node that it waits for, and watches no further one. If the client may read that node and not
//     another, since the contenders of one directory have several ACLs, the end of the other is not heard until the
//     first late read, which comes after an eighth of a session timeout at most. That is refused, or shows an event
//     lost, and the client sets no watch without a read any more, in any directory (framework/internal/watches/set.go).
//     So this costs a client an eighth of a session timeout once. A wait that ends without a grant before that has the
//     node read at its end: shorter waits may fail until the first such answer has come. None of this admits a
//     contender: where the end of a node is not heard, it goes on waiting.
//
// A node that the contender waits for later, and does not watch yet, is read: that takes a request in any case.

// An aheadNode is a node ahead that a contender watches so that the view hears of its end.
type aheadNode struct {
	name  string
	watch session.Watch
}

// watched are the nodes ahead that a contender watches when it begins to wait. Behind readers, which end in any order,
// it is one node: the next one is read when that has gone. The answer shows the client a transaction from after the
// ends so far, which proves them in the record of the acquire. Events would not, and the record names one node alone.
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

// noteRead notes what a view of a node ahead shows: that this client may read the nodes of others. (The node may be of
// an earlier session of this client: then the case of several ACLs above comes sooner.) A node that it may not read has
// a Stat too where servers show that, but then the client sets no watch without a read any more.
func (c *Contender) noteRead(view session.View) {
	if c.watched != "" && view.Stat != nil && !view.Own {
		c.queue.Registry.noteReadable(c.queue.Config.Dir)
	}
}

// readUnheard reads the node that a wait was for which has ended without a grant, if no read has shown it: its end may
// have come unheard, because the client may not read the node. It does not wait for the answer.
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

func (c *Contender) stopAlsoWatched() {
	for _, n := range c.alsoWatched {
		n.watch.Stop()
	}
}
