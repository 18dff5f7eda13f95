//go:build linux

package interop_test

import (
	"testing"

	"github.com/gocurator/curator/framework/zktest/await"
	"github.com/gocurator/curator/integration/interop/godriver"
)

func TestAHolderIsAskedToLeaveFromTheOtherSide(t *testing.T) {
	w := newWorld(t)
	for _, pair := range [][2]string{{ours, java}, {java, ours}, {oldJava, ours}, {ours, oldJava}, {ours, earlier}, {earlier, ours}} {
		for _, recipe := range []string{"mutex", "rw"} {
			t.Run(recipe+": "+pair[1]+" asks "+pair[0], func(t *testing.T) {
				w := w.in(t)
				path := "/revoke/" + name(recipe)
				var side how = func(*godriver.Order) {}
				if recipe == "rw" {
					side = write
				}
				holder := w.contender(pair[0], godriver.Order{Recipe: recipe, Path: path, Revocable: true})
				asker := w.contender(pair[1], godriver.Order{Recipe: recipe, Path: path})
				held := holder.acquire(side)
				next := asker.queue(path, side)
				w.done(asker.process, godriver.Order{Op: "revoke", Client: asker.name, Node: path + "/" + held.Nodes[0]})
				if a := await.Receive(t, patience, "the holder to be asked to leave", holder.events); a.Event != "revoke" {
					t.Errorf("the holder heard %q", a.Event)
				}
				next.waits() // the holder is asked, not forced
				holder.release(side)
				next.granted()
				asker.release(side)
				w.awaitChildren(path, 0)
			})
		}
	}
}
