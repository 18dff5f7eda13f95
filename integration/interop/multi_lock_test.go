//go:build linux

package interop_test

import (
	"testing"
	"time"

	"github.com/gocurator/curator/integration/interop/godriver"
)

func TestAMultiLockIsSharedByTwo(t *testing.T) {
	w := newWorld(t)
	for _, pair := range [][2]string{{ours, java}, {java, ours}, {ours, earlier}, {earlier, ours}} {
		t.Run(pair[0]+" holds, "+pair[1]+" waits", func(t *testing.T) {
			w := w.in(t)
			a, b, c := "/multi/"+name("a"), "/multi/"+name("b"), "/multi/"+name("c")
			first := w.contender(pair[0], godriver.Order{Recipe: "multi", Paths: []string{a, b}})
			second := w.contender(pair[1], godriver.Order{Recipe: "multi", Paths: []string{b, c}})
			single := w.mutex(pair[1], c)

			first.acquire()
			single.acquire()
			wait := second.queue(b)
			wait.waits()
			w.awaitChildren(c, 1) // it asks for one after the other
			first.release()
			w.awaitChildren(c, 2)
			wait.waits()
			end := single.release()
			if got := wait.granted(); got.Ended < end.Began || len(got.Nodes) != 2 {
				t.Errorf("got %v, %v after the release", got.Nodes, time.Duration(got.Ended-end.Began))
			}
			if single.try(within(0)) || w.mutex(pair[0], b).try(within(0)) {
				t.Error("a part of a multi-lock is free")
			}
			// All or nothing: the part that was free is given back.
			if first.try(within(100 * time.Millisecond)) {
				t.Error("acquired a multi-lock of which a part is held")
			}
			w.awaitChildren(a, 0)
			second.release()
			for _, path := range []string{a, b, c} {
				w.awaitChildren(path, 0)
			}
		})
	}
}
