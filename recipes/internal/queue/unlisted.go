package queue

import (
	"github.com/go-zookeeper/zk"

	"github.com/gocurator/curator/framework"
)

// Everything in this file serves one purpose: a contender enters a queue that its session has had to itself for a while
// without listing it. Without the file the engine is right, and an acquire of such a lock costs a listing more.
//
// The proof. Let a session know the number that the next node in a directory will get: it knows every node that was
// created before. It creates a node, and the answer names it.
//
//  1. The node has that number. A number is the count of nodes ever created in the directory, of any kind and name
//     (S2). So nothing was created in between, and the view lacks no node before this one. The answer comes in the
//     order of execution (S1), so that what the session has heard by then of deletions only makes the view smaller.
//     Hence the decision that the view allows at that moment is right; it is taken there, and the next number is one
//     more.
//  2. The node has another number. Then others have created nodes of which the view knows nothing: the next number is
//     unknown from then on, and the contender lists the queue.
//
// Both hold in one and the same directory only, since a directory that is made anew counts anew. So the directory is
// watched, and the creation that its watch has shown must be that of the directory that was listed. A directory that
// was deleted since fires the watch before anything in its successor is answered (S6).
//
// How the session comes to know the next number: a listing and the directory's Stat are of one moment, and the Stat has
// the count of creations (S3). A server that counts changes there too says a greater one, which is no proof. So the
// count must also be the least that it can be: one more than the greatest number that a node of ours got.
//
// Why a writer that left is forgotten in case 1 (view.appendNext): a writer that goes on as a reader has created a node
// for that, with a given name, before its own node went; that would have taken the number.

// An unlisted is what a view knows of numbers. It is guarded by the mutex of its sharedView.
type unlisted struct {
	dirWatch  *framework.Watch    // on the directory; nil if there is none
	dirCzxid  int64               // of the directory that was listed; zero if none was
	next      int32               // the number of the next node in it, of any client; negative if that is unknown
	least     int32               // the next number is not less: one more than the greatest that a node of ours got
	ownStreak int                 // how many nodes came one right after the other, all of them ours
	decisions map[string]Decision // about contenders that entered in case 1 and have not asked yet
}

// minStreak is how many nodes in a row must be ours before the listing is left out: if it turns out that one is needed,
// that takes another round trip.
const minStreak = 8

// listed notes what the Stat of a listing says of numbers.
func (u *unlisted) listed(dir *zk.Stat) {
	if u.dirCzxid != dir.Czxid {
		u.dirCzxid, u.least = dir.Czxid, 0
	}
	u.next = -1
	if most := creations(dir); most == u.least {
		u.next = most
	}
}

// creations is how many nodes were ever created in a directory, which is the number of the next one, or more; negative
// from 2³⁰ on. ZooKeeper says twice as many, less the number of children, where its Stat has the version of the
// children (org.apache.zookeeper.server.DataNode.copyStat). ClickHouse Keeper adds one there for each change of a
// child's data.
func creations(dir *zk.Stat) int32 {
	if sum := dir.Cversion + dir.NumChildren; sum >= 0 {
		return sum / 2
	}
	return -1
}

// created notes that the session has created a node, a contender's if ok. In case 1 of the proof it decides about the
// contender, and appends the node to the view; sameDirectory says that nothing has happened to the directory since it
// was listed.
func (u *unlisted) created(v *view, n Node, ok, sameDirectory bool) {
	isNext := ok && u.next >= 0 && n.number == u.next && n.number < firstDoubtful
	u.next = -1
	if ok {
		u.least = max(u.least, n.number+1)
	}
	if !isNext {
		u.ownStreak = 0
		return
	}
	u.ownStreak++
	if !sameDirectory {
		return
	}
	u.next = n.number + 1
	if u.decisions == nil {
		u.decisions = map[string]Decision{}
	}
	u.decisions[n.Name] = Decide(v.parsed(), n)
	v.appendNext(n)
}

// canSkipListing reports whether the next acquire may skip listing the directory. As a side effect it starts the
// directory watch that makes this safe.
func (v *sharedView) canSkipListing() bool {
	v.mu.Lock()
	defer v.mu.Unlock()
	u := &v.unlisted
	if u.ownStreak < minStreak {
		return false
	}
	if u.dirWatch != nil && v.key.session.View(u.dirWatch).Status == framework.StatusGone { // as an empty container does
		v.unwatchDirectory()
	}
	if u.dirWatch == nil {
		u.dirWatch = v.key.session.WatchData(v.key.dir, func() {})
	}
	return u.next >= 0 && v.sameDirectory()
}

// sameDirectory reports whether the directory that was listed has been there ever since, as far as everything goes that
// has arrived. mu is held.
func (v *sharedView) sameDirectory() bool {
	if v.unlisted.dirWatch == nil || v.unlisted.dirCzxid == 0 {
		return false
	}
	dir := v.key.session.View(v.unlisted.dirWatch)
	return dir.Armed && dir.Stat.Czxid == v.unlisted.dirCzxid
}

// unwatchDirectory ends the watch on the directory, if there is one. mu is held.
func (v *sharedView) unwatchDirectory() {
	if v.unlisted.dirWatch != nil {
		v.key.session.Unwatch(v.unlisted.dirWatch)
		v.unlisted.dirWatch = nil
	}
}

// entryDecision returns, once, what was decided about a contender when the creation of its node was answered.
func (v *sharedView) entryDecision(name string) (d Decision, known bool) {
	v.mu.Lock()
	defer v.mu.Unlock()
	d, known = v.unlisted.decisions[name]
	delete(v.unlisted.decisions, name)
	return d, known
}
