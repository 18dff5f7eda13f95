package watches

import (
	"time"

	"github.com/go-zookeeper/zk"
)

// One request, setWatches, sets the watches of several nodes, and says less than a read. Of each node it reports that
// it is missing, or that its data has changed after a given transaction, or nothing. The reports are events, which
// come before the answer (org.apache.zookeeper.server.DataTree.setWatches, the same from 3.5 to 3.9). The server
// executes the request between two transactions, as it does a read: CommitProcessor lets all reads end before it
// applies the next transaction, and a server that is alone has one thread for both.
//
// The subscriber knows the data of the nodes as of that transaction, its zxid, and an answer has shown the zxid to the
// session. The table makes a Request for each node, and the session sends those that stand together as one. So what
// holds when the answer comes follows from S1 of package queue:
//
//   - No event came: the node existed, unchanged since zxid, when the server set the watch. View says Present and
//     Current, without Stat and Data. That wakes no subscriber, which knew as much before.
//   - A deletion came: the node was missing after zxid, and no watch is set. The event came after an answer that had
//     shown zxid, so the deletion is later than zxid. If the node was created again since, its mzxid is greater than
//     zxid, and the server reports that instead of setting a watch.
//   - A change came, from this request or from an earlier watch: the node is read, which sets the watch.
//
// A deletion is published with the answer, not with its event. By then the watches of the same request are set. A
// contender that its event woke would find the watch on its own node not set yet, and list the queue.
//
// A view without Stat belongs to its zxid. A subscriber that knows the node as of an older transaction, or not at all,
// has it read. Otherwise:
//
//	contender 1   creates its node with zxid 10
//	a client      writes into this node, with zxid 11, that its holder is asked to leave
//	contender 2   of the same session creates its node with zxid 12, and watches the one ahead with that zxid
//	contender 1   is admitted, and shares the watch: it would never hear of the message
//
// The server asks for no permission. Since 3.8.4 and 3.9.2 it drops the events of nodes that the client may not read,
// so the watch on one says nothing. ReadLate finds that out after a session timeout, and from then on the session sets
// all watches by reads, which servers refuse. Such nodes cost a session that one timeout.
//
// If a server refuses the request, the nodes are read, and it gets no other one on this connection.

// A Since is one of the subscriptions of SubscribeSince.
type Since struct {
	Sub      *Subscription
	Path     string
	Wake     func()
	Deferred bool
}

// SubscribeSince subscribes to the data and the existence of nodes whose data the subscribers know as of zxid. sets
// says that the server is known to take setWatches.
func (t *Table) SubscribeSince(zxid int64, all []Since, sets bool, now time.Time) {
	sets = sets && t.attached && !t.readsAll && !t.refusesSets
	for _, s := range all {
		key, how := Key{Path: s.Path}, Promptly
		if s.Deferred {
			how = Deferred
		}
		isNew := t.nodes[key] == nil
		w := t.join(s.Sub, key, s.Wake, how, now)
		s.Sub.knows = max(zxid, 0)
		if isNew && how == Promptly && sets && !t.covered(key) && !t.leaving[s.Path] {
			t.set(w, s.Sub.knows, now)
		} else {
			t.begin(s.Sub, how, now)
		}
	}
}

// set makes the request that sets the watch without a read.
func (t *Table) set(w *node, zxid int64, now time.Time) {
	w.newest++
	w.phase, w.sent, w.asOf = setting, now, zxid
	r := Request{Op: SetData, Path: w.key.Path, Watch: true, Since: zxid, node: w, number: w.newest}
	t.requests = append(t.requests, r)
}

// Joins reports whether a request goes into one with the request before it.
func (r Request) Joins(before Request) bool {
	return r.Op == SetData && before.Op == SetData && r.Since == before.Since
}

// unread reports whether the node is watched without having been read.
func (w *node) unread() bool {
	return w.phase == setting || w.view.Status == Present && w.view.Stat == nil
}

// satisfies reports whether what is known of the node says all that the subscription asks for.
func (w *node) satisfies(sub *Subscription) bool { return !w.unread() || sub.knows >= w.asOf }

func (w *node) satisfiesAll() bool {
	for sub := range w.subscribers {
		if !w.satisfies(sub) {
			return false
		}
	}
	return true
}

// read reads a node that was not, for a subscription that knows too little.
func (t *Table) read(w *node, how Manner, now time.Time) {
	switch {
	case how == Deferred:
		t.deferred = append(t.deferred, w)
	case w.phase == setting:
		t.ask(w, now)
	case w.phase == idle:
		t.check(w, now)
	}
}

// setAnswered applies the answer to the request that sets a watch, if it is the newest.
func (t *Table) setAnswered(w *node, a Answer, now time.Time) (broken bool) {
	deleted := w.deleted
	w.phase, w.deleted = idle, false
	switch {
	case a.Outcome == Unclear:
		return true
	case deleted:
		t.setView(w, View{Status: Gone})
	case a.Outcome == Found:
		w.watched = true
		w.view = View{Status: Present, Read: w.sent}
	case a.Outcome == Busy:
		t.refused = append(t.refused, Request{Op: ReadData, Path: w.key.Path, Watch: true, node: w, number: w.newest})
	default:
		t.refusesSets = true
		t.ask(w, now)
	}
	return false
}

// eventBeforeSet applies an event that comes before the answer to that request.
func (t *Table) eventBeforeSet(w *node, kind zk.EventType, now time.Time) {
	switch {
	case kind == zk.EventNodeDeleted:
		w.deleted = true
	case w.deleted || kind == zk.EventNodeChildrenChanged:
	default:
		t.ask(w, now)
	}
}
