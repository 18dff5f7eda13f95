//go:build linux

package interop_test

import (
	"testing"
	"time"

	"github.com/gocurator/curator/integration/interop/godriver"
	"github.com/gocurator/curator/integration/zookeeper"
)

// pairs are the kinds that share a mutex, each in both roles. Curator and kazoo do not: see limits_test.go.
var pairs = [][2]string{
	{ours, java},
	{java, ours},
	{ours, goZK},
	{goZK, ours},
	{java, goZK},
	{goZK, java},
	{ours, python},
	{python, ours},
	{ours, oldJava},
	{oldJava, ours},
	{ours, earlier},
	{earlier, ours},
}

func mutexAt(path string) godriver.Order { return godriver.Order{Recipe: "mutex", Path: path} }

func TestAMutexIsSharedByTwo(t *testing.T) {
	w := newWorld(t)
	for _, pair := range pairs {
		t.Run(pair[0]+" holds, "+pair[1]+" waits", func(t *testing.T) {
			w := w.in(t)
			path := "/two/" + name("mutex")
			holder, waiter := w.mutex(pair[0], path), w.mutex(pair[1], path)
			first := holder.acquire()
			second := waiter.queue(path)
			second.waits()
			end := holder.release()
			got := second.granted()
			if got.Ended < end.Began {
				t.Errorf("let in %v before the release", time.Duration(end.Began-got.Ended))
			}
			if first.Nodes[0] == got.Nodes[0] {
				t.Errorf("both have the node %s", got.Nodes[0])
			}
			waiter.release()
			w.awaitChildren(path, 0)
		})
	}
}

func TestAMutexIsFirstComeFirstServedAcrossLanguages(t *testing.T) {
	w := newWorld(t)
	for _, kinds := range [][]string{
		{ours, java, goZK},
		{ours, goZK, java},
		{java, ours, goZK},
		{java, goZK, ours},
		{goZK, ours, java},
		{goZK, java, ours},
		{ours, python, goZK},
		{python, goZK, ours},
		{goZK, ours, python},
		{python, ours, python},
		{java, ours, oldJava},
		{ours, earlier, java},
		{earlier, ours, earlier},
	} {
		t.Run(kinds[0]+" "+kinds[1]+" "+kinds[2], func(t *testing.T) {
			w := w.in(t)
			path := "/three/" + name("mutex")
			w.passThrough(path, kinds, 2)
		})
	}
}

// passThrough queues each kind up in turn, several times over, and lets the lock go from one to the next.
func (w *world) passThrough(path string, kinds []string, times int) {
	w.t.Helper()
	var contenders []*contender
	for range times {
		for _, kind := range kinds {
			contenders = append(contenders, w.mutex(kind, path))
		}
	}
	waits := make([]*wait, len(contenders))
	for i, k := range contenders {
		waits[i] = k.queue(path)
	}
	var before godriver.Answer // the release before
	for i, k := range contenders {
		got := waits[i].granted()
		if got.Ended < before.Began {
			w.t.Errorf("%d, %s, was let in before %d released", i, k.who, i-1)
		}
		if i+1 < len(waits) {
			waits[i+1].waits()
		}
		before = k.release()
	}
	w.awaitChildren(path, 0)
}

func TestAHolderReentersWhileOthersWait(t *testing.T) {
	w := newWorld(t)
	for _, pair := range [][2]string{{ours, java}, {java, ours}, {ours, python}, {ours, earlier}, {earlier, ours}} {
		t.Run(pair[0]+" holds, "+pair[1]+" waits", func(t *testing.T) {
			w := w.in(t)
			path := "/reenter/" + name("mutex")
			holder, waiter := w.mutex(pair[0], path), w.mutex(pair[1], path)
			first := holder.acquire()
			second := waiter.queue(path)
			if again := holder.acquire(within(0)); again.Nodes[0] != first.Nodes[0] {
				t.Errorf("re-entered with %s, not %s", again.Nodes[0], first.Nodes[0])
			}
			holder.release()
			second.waits()
			end := holder.release()
			if got := second.granted(); got.Ended < end.Began {
				t.Error("let in before the last release")
			}
			waiter.release()
			w.awaitChildren(path, 0)
		})
	}
}

func TestATryOrATimedWaitLeavesNothing(t *testing.T) {
	w := newWorld(t)
	for _, pair := range [][2]string{
		{ours, java}, {java, ours}, {goZK, ours}, {ours, python}, {python, ours}, {ours, earlier}, {earlier, ours},
	} {
		t.Run(pair[0]+" holds, "+pair[1]+" tries", func(t *testing.T) {
			w := w.in(t)
			path := "/try/" + name("mutex")
			holder, other := w.mutex(pair[0], path), w.mutex(pair[1], path)
			holder.acquire()
			for _, limit := range []time.Duration{0, 100 * time.Millisecond} {
				if other.try(within(limit)) {
					t.Errorf("acquired within %v what is held", limit)
				}
				w.awaitChildren(path, 1)
			}
			holder.release()
			if !other.try(within(0)) {
				t.Error("did not acquire a free mutex")
			}
			other.release()
			w.awaitChildren(path, 0)
		})
	}
}

// A lock directory is a container, whether Java or Go makes it, and goes away after its last child, parents and all.
func TestLockDirectoriesGoAway(t *testing.T) {
	w := newWorldOn(t, zookeeper.Start(t, zookeeper.Config{ContainerCheckInterval: 200 * time.Millisecond}))
	for _, kind := range []string{ours, java} {
		path := "/" + kind + "/deep/lock"
		k := w.mutex(kind, path)
		k.acquire()
		k.release()
		w.awaitGone("/" + kind)
	}
}
