//go:build linux

package interop_test

import (
	"testing"
	"time"

	"github.com/gocurator/curator/framework/zktest/await"
	"github.com/gocurator/curator/integration/interop/godriver"
)

// upgrades are the directions in which processes change their version of this library.
var upgrades = [][2]string{{earlier, ours}, {ours, earlier}}

// What two versions leave at the servers is the same: names but for GUIDs, data, ACLs, and what is ephemeral.
func TestVersionsMakeTheSameNodes(t *testing.T) {
	w := newWorld(t)
	data := nodeData
	for _, order := range []godriver.Order{
		{Recipe: "mutex"},
		{Recipe: "rw", Side: "read"},
		{Recipe: "rw", Side: "write"},
		{Recipe: "semaphore", Max: 1},
		{Recipe: "semaphore", Max: 1, Count: "count"},
		{Recipe: "semaphoremutex"},
		{Recipe: "selector", Data: &data},
		{Recipe: "latch", Data: &data},
		{Recipe: "retained"},
		{Recipe: "multi", Paths: []string{"a", "b"}},
	} {
		t.Run(order.Recipe+" "+order.Side+order.Count, func(t *testing.T) {
			w := w.in(t)
			trees := map[string]string{}
			for _, kind := range []string{ours, earlier} {
				root := "/" + name("same") + "/root"
				theirs := order
				theirs.Path = root + "/lock"
				if order.Count != "" {
					theirs.Count = root + "/" + order.Count
				}
				if order.Paths != nil {
					theirs.Paths = []string{root + "/a", root + "/b"}
				}
				side := func(o *godriver.Order) { o.Side = order.Side }
				holder, waiter := w.contender(kind, theirs), w.contender(kind, theirs)
				holder.acquire(side)
				if order.Recipe == "rw" { // the reader that a writer becomes, or another reader
					holder.acquire(read)
				}
				wait := waiter.queue(w.queueOf(theirs), write)
				trees[kind] = w.tree(root)
				if order.Recipe == "rw" {
					holder.release(read)
				}
				holder.release(side)
				wait.granted()
				waiter.release(write)
			}
			if trees[ours] != trees[earlier] {
				t.Errorf("got\n%s\nwant, as the earlier version has it,\n%s", trees[ours], trees[earlier])
			}
		})
	}
}

// queueOf is the directory in which contenders of a recipe queue.
func (w *world) queueOf(order godriver.Order) string {
	switch order.Recipe {
	case "multi":
		return order.Paths[0]
	case "semaphore", "semaphoremutex":
		return order.Path + "/leases"
	default:
		return order.Path
	}
}

// Three processes that queue for one lock are replaced, one after the other, each while it holds. The second one is
// killed. There and back.
func TestVersionsKeepExclusionAndOrderInARollingUpgrade(t *testing.T) {
	const replicas = 3
	w := newWorld(t)
	for _, recipe := range []string{"mutex", "selector", "latch"} {
		for _, versions := range upgrades {
			t.Run(recipe+", "+versions[0]+" to "+versions[1], func(t *testing.T) {
				w := w.in(t)
				path := "/rolling/" + name(recipe)
				var queue []*wait
				enter := func(version string) {
					t.Helper()
					process := w.fresh(version, fleet.dispatch)
					replica := w.clientIn(process, version, w.addr).contender(godriver.Order{Recipe: recipe, Path: path})
					queue = append(queue, replica.queue(path))
				}
				for range replicas {
					enter(versions[0])
				}
				var left int64 // when the holder before began to leave
				for turn := range 2 * replicas {
					got := queue[turn].granted()
					if got.Ended < left {
						t.Errorf("replica %d was let in %v before the one ahead left", turn, time.Duration(left-got.Ended))
					}
					if turn+1 < len(queue) {
						queue[turn+1].waits()
					}
					holder := queue[turn].k
					if turn == 1 {
						left = godriver.Now()
						holder.process.Kill()
						w.endSession(holder)
					} else {
						left = holder.release().Began
						holder.process.Kill()
					}
					if turn < replicas {
						enter(versions[1])
					}
				}
				w.awaitChildren(path, 0)
			})
		}
	}
}

// A lock that one version retains, idle for up to a minute, is the other's as soon as that wants it.
func TestRetainedLockGivesWayToTheOtherVersion(t *testing.T) {
	w := newWorld(t)
	for _, pair := range upgrades {
		t.Run(pair[0]+" retains, "+pair[1]+" waits", func(t *testing.T) {
			w := w.in(t)
			path := "/retained/" + name("mutex")
			holder, waiter := w.contender(pair[0], godriver.Order{Recipe: "retained", Path: path}), w.mutex(pair[1], path)
			if !await.Within(patience, func() bool {
				holder.acquire()
				holder.release()
				return len(w.children(path)) == 1
			}) {
				await.Fatalf(t, "a node that stays")
			}
			if took := waited(waiter.acquire()); took >= time.Minute {
				t.Errorf("waited for %v, want less than the minute for which the node is retained", took)
			}
			waiter.release()
			w.awaitChildren(path, 0)
		})
	}
}

// The earlier version has no caches. One of today's version follows what the earlier one writes.
func TestCacheFollowsWhatAnEarlierVersionWrites(t *testing.T) {
	w := newWorld(t)
	root := "/" + name("cached")
	replica := w.ourCache(newProxy(t, w.addr), root, 0)
	writer := w.contender(earlier, godriver.Order{Recipe: "semaphore", Path: root + "/s", Count: root + "/count", Max: 7})
	want := func(node, data string) {
		t.Helper()
		var got nodeTree
		if !await.Within(patience, func() bool { got = replica.nodes(); return got[node].Data == data }) {
			t.Fatalf("%s: got a cache with %v, want the data %q", node, got, data)
		}
	}
	want("/count", "\x00\x00\x00\x07")
	w.done(writer.process, godriver.Order{Op: "setvalue", Who: writer.who, Value: 9})
	want("/count", "\x00\x00\x00\x09")
	lease := "/s/leases/" + writer.acquire().Nodes[0]
	want(lease, nodeData)
	writer.release()
	want(lease, "")
}
