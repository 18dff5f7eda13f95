//go:build linux

package interop_test

import (
	"testing"
	"time"
)

// A holder is frozen until its session is over, and another contender is let in. Ours had ended before that, by its own
// clock, and says so as soon as it can look; the others go on holding.
func TestAFrozenHolderIsSucceededByAnotherLanguage(t *testing.T) {
	w := newWorld(t)
	for _, pair := range [][2]string{{ours, java}, {java, ours}, {ours, python}, {python, ours}} {
		t.Run(pair[0]+" is frozen, "+pair[1]+" waits", func(t *testing.T) {
			w := w.in(t)
			path := "/frozen/" + name("mutex")
			process := w.fresh(pair[0], nil)
			holder := w.mortal(8*time.Second).clientIn(process, pair[0], w.addr).contender(mutexAt(path))
			waiter := w.mutex(pair[1], path)
			holder.acquire()
			wait := waiter.queue(path)
			process.Freeze(t)
			got := wait.granted()
			process.Thaw(t)

			order := holder.order("report")
			report := <-process.Order(order)
			order.Op = "release"
			released := <-process.Order(order)
			if pair[0] == ours {
				if report.Acquired || report.Owned {
					t.Errorf("the frozen holder believes to hold: %+v", report)
				}
				if released.Error == "" {
					t.Error("the release of a lost lease succeeded")
				}
				if released.Valid == 0 || released.Valid > got.Ended {
					t.Errorf("the lease ended %v after the next one was let in", time.Duration(released.Valid-got.Ended))
				}
				t.Logf("the lease ended %v before the next one was let in", time.Duration(got.Ended-released.Valid).Round(time.Millisecond))
			} else if released.Error != "" {
				t.Errorf("%s has learnt that a lock can be lost: %s", pair[0], released.Error)
			}
			if pair[0] == java {
				if !report.Acquired {
					t.Errorf("Curator has learnt that a lock can be lost: %+v", report)
				}
			}
			waiter.release()
			w.awaitChildren(path, 0)
		})
	}
}
