//go:build linux

package interop_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/gocurator/curator/integration/interop/godriver"
)

func TestASemaphoreIsSharedByTwo(t *testing.T) {
	w := newWorld(t)
	for _, pair := range [][2]string{{ours, java}, {java, ours}, {oldJava, ours}, {ours, oldJava}, {ours, earlier}, {earlier, ours}} {
		for limit := 1; limit <= 3; limit++ {
			t.Run(fmt.Sprintf("%s first, %s waits, %d leases", pair[0], pair[1], limit), func(t *testing.T) {
				w := w.in(t)
				path := "/semaphore/" + name("s")
				order := godriver.Order{Recipe: "semaphore", Path: path, Max: limit}
				a, b := w.contender(pair[0], order), w.contender(pair[1], order)
				for i := range limit { // the two take turns, a first
					[]*contender{a, b}[i%2].acquire()
				}
				if b.try(within(0)) || a.try(within(0)) {
					t.Error("a try got a lease more than there are")
				}
				w.awaitChildren(path+"/leases", limit)
				w.awaitChildren(path+"/locks", 0)
				wait := w.contender(pair[1], order).queue(path + "/leases")
				wait.waits()
				end := a.release()
				if got := wait.granted(); got.Ended < end.Began {
					t.Error("let in before the release")
				}
				wait.k.release()
				for i := 1; i < limit; i++ {
					[]*contender{a, b}[i%2].release()
				}
				w.awaitChildren(path+"/leases", 0)
				w.awaitChildren(path+"/locks", 0)
			})
		}
	}
}

// Requests are served in their order, whatever its language and however many leases it wants.
func TestASemaphoreIsFirstComeFirstServedAcrossLanguages(t *testing.T) {
	w := newWorld(t)
	for _, kinds := range [][3]string{
		{ours, java, ours}, {java, ours, java}, {java, ours, ours}, {ours, java, java}, {ours, earlier, ours}, {earlier, ours, earlier},
	} {
		t.Run(fmt.Sprint(kinds), func(t *testing.T) {
			w := w.in(t)
			path := "/order/" + name("s")
			order := godriver.Order{Recipe: "semaphore", Path: path, Max: 2}
			holder, many, one := w.contender(kinds[0], order), w.contender(kinds[1], order), w.contender(kinds[2], order)
			holder.acquire()
			w.awaitChildren(path+"/locks", 0)
			both := many.queue(path+"/locks", leases(2)) // one is free, but not enough
			w.awaitChildren(path+"/leases", 3)
			single := one.queue(path + "/locks")
			both.waits()
			single.waits()
			holder.release()
			both.granted()
			single.waits()
			end := many.release()
			if got := single.granted(); got.Ended < end.Began {
				t.Error("let in before the release")
			}
			one.release()
			w.awaitChildren(path+"/leases", 0)
			w.awaitChildren(path+"/locks", 0)
		})
	}
}

func TestASharedCountIsALiveLimit(t *testing.T) {
	w := newWorld(t)
	for _, pair := range [][2]string{{ours, java}, {java, ours}, {ours, earlier}, {earlier, ours}} {
		t.Run(pair[0]+" sets, "+pair[1]+" waits", func(t *testing.T) {
			w := w.in(t)
			path := "/live/" + name("s")
			order := godriver.Order{Recipe: "semaphore", Path: path, Count: path + "-count", Max: 1}
			setter, waiter, late := w.contender(pair[0], order), w.contender(pair[1], order), w.contender(pair[1], order)
			set := func(limit int) {
				t.Helper()
				w.done(setter.process, godriver.Order{Op: "setvalue", Who: setter.who, Value: int64(limit)})
				setter.awaitLimit(limit)
				late.awaitLimit(limit)
			}
			setter.acquire()
			wait := waiter.queue(path + "/leases")
			wait.waits()
			set(2)
			wait.granted()
			set(1) // takes no lease away, but lets no one in
			if late.try(within(100 * time.Millisecond)) {
				t.Error("a lease more than the limit")
			}
			waiter.release()
			if late.try(within(100 * time.Millisecond)) {
				t.Error("a lease more than the limit, after a release")
			}
			setter.release()
			late.acquire()
			late.release()
			w.awaitChildren(path+"/leases", 0)
		})
	}
}

func TestASemaphoreMutexIsSharedByTwo(t *testing.T) {
	w := newWorld(t)
	for _, pair := range [][2]string{{ours, java}, {java, ours}, {oldJava, ours}, {ours, oldJava}, {ours, earlier}, {earlier, ours}} {
		t.Run(pair[0]+" holds, "+pair[1]+" waits", func(t *testing.T) {
			w := w.in(t)
			path := "/sm/" + name("lock")
			order := godriver.Order{Recipe: "semaphoremutex", Path: path}
			holder, waiter, third := w.contender(pair[0], order), w.contender(pair[1], order), w.contender(pair[0], order)
			held := holder.acquire()
			if waiter.try(within(0)) || waiter.try(within(50*time.Millisecond)) {
				t.Error("acquired what is held")
			}
			w.awaitChildren(path+"/leases", 1)
			w.awaitChildren(path+"/locks", 0)
			wait := waiter.queue(path + "/leases")
			behind := third.queue(path + "/locks")
			wait.waits()
			end := holder.release()
			got := wait.granted()
			if got.Ended < end.Began {
				t.Error("let in before the release")
			}
			if got.Nodes[0] == held.Nodes[0] {
				t.Errorf("both have the node %s", got.Nodes[0])
			}
			behind.waits()
			waiter.release()
			behind.granted()
			third.release()
			w.awaitChildren(path+"/leases", 0)
			w.awaitChildren(path+"/locks", 0)
		})
	}
}
