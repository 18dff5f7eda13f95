package watches

import (
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/go-zookeeper/zk"
)

// One request, setWatches, sets the watches of several nodes, and says less than a read. Of each node it reports, by an
// event, that it is missing, or that its data has changed after a given transaction, or nothing. ZooKeeper sends the
// events before the answer (org.apache.zookeeper.server.DataTree.setWatches, the same from 3.5 to 3.9), ClickHouse
// Keeper right behind it (KeeperStorage::processLocalRequests). The server executes the request between two
// transactions, as it does a read: CommitProcessor lets all reads end before it applies the next transaction, and a
// standalone server has one thread for both.
//
// The subscriber knows the data of the nodes as of that zxid, which an answer has shown to the session. The table makes
// a Request for each node, and the session sends as many adjacent ones as fit into one. By S1 of package queue, when
// the answer comes:
//
//   - No event came: the node existed, unchanged since zxid, when the server set the watch. View says Present and
//     Current, without Stat and Data, and no subscriber is woken.
//   - A deletion came: the node was missing after zxid, and no watch is set. If the node was created again since, its
//     mzxid is greater than zxid, and the server reports that instead of setting a watch.
//   - A change came, from this request or from an earlier watch: the node is read, which sets the watch.
//
// A deletion is published once the answer has come. A contender that the event woke before would find the watch on its
// own node not set yet, and list the queue.
//
// At ClickHouse Keeper the view of a node that was missing says Current between the answer and the event. This misleads
// only a contender that knows of the ends of all nodes ahead before its own node's event. Its grant ends with that
// event, as if the node had been removed right after the admission.
//
// A view without Stat belongs to its zxid. A subscriber that knows the node as of an older transaction, or not at all,
// has it read. Otherwise:
//
//	contender 1   creates its node with zxid 10
//	a client      writes into this node, with zxid 11, that its holder is asked to leave
//	contender 2   of the same session creates its node with zxid 12, and watches the one ahead with that zxid
//	contender 1   is admitted, and shares the watch: it would never hear of the message
//
// The server asks for no permission, but since 3.8.4 and 3.9.2 it drops the events of nodes that the client may not
// read. So only nodes that the subscriber knows to be readable (ahead.go of package queue) are set in this way, and the
// others are read.
//
// The subscriber may be wrong about a node of another client, and an ACL may change. A read shows both: the node may
// not be read, or it has ended or changed without an event, which was lost, by S1. The table then reads all nodes that
// it has only set, and neither it nor the client's next sessions set a watch without a read again (ReadsAll).
//
// If a server refuses the request, the nodes are read, and it gets no other on this connection.

// A Since is one of the subscriptions of SubscribeSince.
type Since struct {
	Sub      *Subscription
	Path     string
	Wake     func()
	Readable bool // the client may read the node: a watch without a read says all
	Doubtful bool // it may only seem so: the node is read soon
	Optional bool // there is no subscription if it would take a read
}

// SubscribeSince subscribes to the data and the existence of nodes whose data the subscribers know as of zxid. sets
// says that the server is known to take setWatches.
func (t *Table) SubscribeSince(zxid int64, all []Since, sets bool, now time.Time) {
	sets = sets && t.attached && !t.readsAll && !t.refusesSets
	zxid = max(zxid, 0)
	for _, s := range all {
		key := Key{Path: s.Path}
		before := t.nodes[key]
		isSet := before == nil && sets && s.Readable && !t.covered(key) && !t.leaving[s.Path]
		isShared := before != nil && before.phase != deferred && before.known() && before.satisfies(zxid)
		if s.Optional && !isSet && !isShared {
			continue
		}
		w := t.join(s.Sub, key, s.Wake, Promptly, now)
		s.Sub.knows = zxid
		w.doubtful = w.doubtful || s.Doubtful
		if isSet {
			t.set(w, zxid, now)
		} else {
			t.begin(s.Sub, Promptly, now)
		}
		t.lookSoon(w, now)
	}
}

// Begun reports whether the subscription was made.
func (s *Subscription) Begun() bool { return s.node != nil }

// set makes the request that sets the watch without a read.
func (t *Table) set(w *node, zxid int64, now time.Time) {
	w.newest++
	w.phase, w.sent, w.asOf = setting, now, zxid
	t.requests = append(t.requests, Request{Op: SetData, Path: w.key.Path, Watch: true, Since: zxid, node: w, number: w.newest})
}

// Joins reports whether a request goes into one with the request before it.
func (r Request) Joins(before Request) bool {
	return r.Op == SetData && before.Op == SetData && r.Since == before.Since
}

// unread reports whether the node is watched without having been read.
func (w *node) unread() bool {
	return w.phase == setting || w.view.Status == Present && w.view.Stat == nil
}

// satisfies reports whether what is known of the node says all to a subscriber that knows its data as of a transaction.
func (w *node) satisfies(knows int64) bool { return !w.unread() || knows >= w.asOf }

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
		if t.readsAll { // since the request was made
			t.check(w, now)
		}
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

// refutes reports whether an answer shows that a watch without a read may say nothing: the client may not read a node
// of SubscribeSince, or an event of one was lost.
func (w *node) refutes(r Request, a Answer) bool {
	if a.Outcome == Forbidden {
		return w.isOfSince()
	}
	believed := r.number == w.newest && w.phase == checking && w.view.Status == Present && w.unread()
	return believed && (a.Outcome == Missing || a.Outcome == Found && a.Stat.Mzxid > w.asOf)
}

func (w *node) isOfSince() bool {
	return w.any(func(sub *Subscription) bool { return sub.knows >= 0 })
}

// readAll reads the nodes whose watches were set without a read, and has no other watch set so.
func (t *Table) readAll(now time.Time) {
	if t.readsAll {
		return
	}
	t.readsAll = true
	byPath := func(a, b *node) int { return strings.Compare(a.key.Path, b.key.Path) }
	for _, w := range slices.SortedFunc(maps.Values(t.nodes), byPath) {
		if w.phase == idle && w.unread() {
			t.check(w, now)
		}
	}
}

// ReadsAll reports whether a read has shown that watches without reads do not serve this client.
func (t *Table) ReadsAll() bool { return t.readsAll }
