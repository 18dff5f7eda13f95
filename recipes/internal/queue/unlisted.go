package queue

import (
	"github.com/go-zookeeper/zk"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/framework/session"
)

// A contender need not list a queue that its session has had to itself for a while. Without this file the engine is
// right, and costs a listing more. The proof:
//
// A session that knows the number of the next node in a directory knows every node created before. It creates a node,
// and the answer names it.
//
//  1. The node has that number, which counts all nodes ever created in the directory (S2). So the view lacks no node
//     before this one, and deletions heard of before the answer (S1) only make it smaller. The next number is one more.
//  2. The node has another number, because others have created nodes. The next number becomes unknown, and the
//     contender lists the queue.
//
// A directory that is created again counts from 0. So the directory is watched (S6), and its czxid must be the listed
// one's.
//
// A listing's Stat gives the next number (S3), but a greater one at a server that counts changes as well. So it must
// also be the least possible, one more than our greatest number.
//
// In case 1 the view forgets that a writer left. If it had become a reader, its reader's node would have taken the
// number.

// An Unlisted is what a session knows of the numbers in a directory. sharedView.mu guards it.
type Unlisted struct {
	dirWatch  session.Watch       // on the directory
	DirCzxid  int64               // the listed directory's; zero if none was listed
	Next      int32               // number of the next node; negative if unknown
	Least     int32               // one more than our greatest number
	ownStreak int                 // nodes in a row that were ours
	Decisions map[string]Decision // made in case 1, until the contender asks
}

// minStreak is the streak that is trusted: a wrong guess costs a round trip.
const minStreak = 8

// Listed notes the Stat that came with a listing.
func (u *Unlisted) Listed(dir *zk.Stat) {
	if u.DirCzxid != dir.Czxid {
		u.DirCzxid, u.Least = dir.Czxid, 0
	}
	u.Next = -1
	if most := creations(dir); most == u.Least {
		u.Next = most
	}
}

// creations is the next node's number by S3 (ZooKeeper's DataNode.copyStat), negative from 2³⁰ on. ClickHouse Keeper's
// is greater, because it also counts changes of a child's data.
func creations(dir *zk.Stat) int32 {
	if sum := dir.Cversion + dir.NumChildren; sum >= 0 {
		return sum / 2
	}
	return -1
}

// Created notes a node of the session's, a contender's if ok. In case 1 it decides about the contender.
func (u *Unlisted) Created(v *View, n Node, ok, sameDirectory bool) {
	isNext := ok && u.Next >= 0 && n.number == u.Next && n.number < firstDoubtful
	u.Next = -1
	if ok {
		u.Least = max(u.Least, n.number+1)
	}
	if !isNext {
		u.ownStreak = 0
		return
	}
	u.ownStreak++
	if !sameDirectory {
		return
	}
	u.Next = n.number + 1
	if u.Decisions == nil {
		u.Decisions = map[string]Decision{}
	}
	u.Decisions[n.Name] = Decide(v.Parsed(), n)
	v.AppendNext(n)
}

// canSkipListing reports whether the next acquire may skip the listing. It starts the watch that makes this safe.
func (v *sharedView) canSkipListing() bool {
	v.mu.Lock()
	defer v.mu.Unlock()
	u := &v.unlisted
	if u.ownStreak < minStreak {
		return false
	}
	if u.dirWatch != nil {
		dir := u.dirWatch.View()
		if dir.Status != framework.StatusGone {
			return u.Next >= 0 && u.isAt(dir)
		}
		v.unwatchDirectoryLocked() // it was empty, and removed
	}
	u.dirWatch = v.key.session.WatchData(v.key.dir, func() {})
	return u.Next >= 0 && v.sameDirectoryLocked()
}

// sameDirectoryLocked reports whether the listed directory exists still.
func (v *sharedView) sameDirectoryLocked() bool {
	return v.unlisted.dirWatch != nil && v.unlisted.isAt(v.unlisted.dirWatch.View())
}

func (u *Unlisted) isAt(dir session.View) bool { return dir.Current && u.IsOf(dir.Stat.Czxid) }

// IsOf reports whether the listed directory has this czxid.
func (u *Unlisted) IsOf(czxid int64) bool { return u.DirCzxid != 0 && u.DirCzxid == czxid }

func (v *sharedView) unwatchDirectoryLocked() {
	stopWatch(v.unlisted.dirWatch)
	v.unlisted.dirWatch = nil
}

// entryDecision returns the decision of case 1, once.
func (v *sharedView) entryDecision(name string) (d Decision, known bool) {
	v.mu.Lock()
	defer v.mu.Unlock()
	d, known = v.unlisted.Decisions[name]
	delete(v.unlisted.Decisions, name)
	return d, known
}
