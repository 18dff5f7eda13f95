package queue

import (
	"github.com/go-zookeeper/zk"

	"github.com/gocurator/curator/framework"
)

// Everything in this file serves one purpose: a contender enters a queue that its session has had to itself for a while
// without listing it. Without the file the engine is right, and costs a listing more.
//
// The proof. A session that knows the number of the next node in a directory knows every node created before. It
// creates a node, and the answer names it.
//
//  1. The node has that number, the count of all nodes ever created in the directory (S2). So nothing was created in
//     between, and the view lacks no node before this one. The answer comes in the order of execution (S1): deletions
//     heard of by then only make the view smaller. So what the view decides at that moment is right; it is noted there,
//     and the next number is one more.
//  2. The node has another number: others have created nodes that the view lacks. The next number is unknown from then
//     on, and the contender lists the queue.
//
// A directory that is made anew counts anew. So the directory is watched, and its czxid must be that of the directory
// that was listed; its deletion fires the watch before anything in its successor is answered (S6).
//
// A listing's Stat tells the next number: it has the count of creations at the moment of the listing (S3). A server
// that counts changes there too says a greater one. So the count must also be the least possible: one more than the
// greatest number that a node of ours got.
//
// In case 1 the view forgets that a writer left (view.appendNext): a writer that became a reader had created a node for
// that before its own went, which would have taken the number.

// An unlisted is what a view knows of numbers. sharedView.mu guards it.
type unlisted struct {
	dirWatch  *framework.Watch    // on the directory; nil if there is none
	dirCzxid  int64               // of the listed directory; zero if none was
	next      int32               // the number of the next node, of any client; negative if unknown
	least     int32               // one more than the greatest number of ours: next is not less
	ownStreak int                 // how many nodes in a row were ours
	decisions map[string]Decision // of case 1, until the contender asks
}

// minStreak is how many nodes in a row must be ours: a wrong guess costs a round trip.
const minStreak = 8

func (u *unlisted) listed(dir *zk.Stat) {
	if u.dirCzxid != dir.Czxid {
		u.dirCzxid, u.least = dir.Czxid, 0
	}
	u.next = -1
	if most := creations(dir); most == u.least {
		u.next = most
	}
}

// creations is the number of the next node in a directory, or more; negative from 2³⁰ on. ZooKeeper's Cversion is twice
// the creations less the children (org.apache.zookeeper.server.DataNode.copyStat). ClickHouse Keeper adds one for each
// change of a child's data.
func creations(dir *zk.Stat) int32 {
	if sum := dir.Cversion + dir.NumChildren; sum >= 0 {
		return sum / 2
	}
	return -1
}

// created notes a node of the session's, a contender's if ok. In case 1 it decides about the contender, and appends the
// node to the view.
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

// canSkipListing reports whether the next acquire may skip listing the directory. As a side effect it starts the watch
// that makes this safe.
func (v *sharedView) canSkipListing() bool {
	v.mu.Lock()
	defer v.mu.Unlock()
	u := &v.unlisted
	if u.ownStreak < minStreak {
		return false
	}
	if u.dirWatch != nil && v.key.session.View(u.dirWatch).Status == framework.StatusGone { // an empty container's
		v.unwatchDirectory()
	}
	if u.dirWatch == nil {
		u.dirWatch = v.key.session.WatchData(v.key.dir, func() {})
	}
	return u.next >= 0 && v.sameDirectory()
}

// sameDirectory reports whether the listed directory has existed ever since, as far as the session has heard. mu is
// held.
func (v *sharedView) sameDirectory() bool {
	if v.unlisted.dirWatch == nil || v.unlisted.dirCzxid == 0 {
		return false
	}
	dir := v.key.session.View(v.unlisted.dirWatch)
	return dir.Armed && dir.Stat.Czxid == v.unlisted.dirCzxid
}

// mu is held.
func (v *sharedView) unwatchDirectory() {
	if v.unlisted.dirWatch != nil {
		v.key.session.Unwatch(v.unlisted.dirWatch)
		v.unlisted.dirWatch = nil
	}
}

// entryDecision returns, once, what was decided about a contender at its creation.
func (v *sharedView) entryDecision(name string) (d Decision, known bool) {
	v.mu.Lock()
	defer v.mu.Unlock()
	d, known = v.unlisted.decisions[name]
	delete(v.unlisted.decisions, name)
	return d, known
}
