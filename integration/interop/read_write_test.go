//go:build linux

package interop_test

import (
	"testing"

	"github.com/gocurator/curator/integration/internal/drivers"
	"github.com/gocurator/curator/integration/interop/godriver"
)

// readWritePairs are the kinds that share a read/write lock, each in both roles.
var readWritePairs = [][2]string{
	{ours, java},
	{java, ours},
	{ours, oldJava},
	{oldJava, ours},
	{ours, python},
	{python, ours},
	{ours, earlier},
	{earlier, ours},
}

func (w *world) readWrite(kind, path string) *contender {
	w.t.Helper()
	return w.contender(kind, godriver.Order{Recipe: "rw", Path: path})
}

func TestAReadWriteLockIsSharedByTwo(t *testing.T) {
	w := newWorld(t)
	for _, pair := range readWritePairs {
		first, second := w.client(pair[0]), w.client(pair[1])
		for _, sides := range []struct {
			name          string
			holds, enters how
			together      bool
		}{
			{"read beside read", read, read, true},
			{"write after read", read, write, false},
			{"read after write", write, read, false},
			{"write after write", write, write, false},
		} {
			t.Run(pair[0]+" and "+pair[1]+": "+sides.name, func(t *testing.T) {
				w := w.in(t)
				path := "/rw/" + name("lock")
				holder := first.in(w).contender(godriver.Order{Recipe: "rw", Path: path})
				other := second.in(w).contender(godriver.Order{Recipe: "rw", Path: path})
				holder.acquire(sides.holds)
				wait := other.queue(path, sides.enters)
				if sides.together {
					wait.granted()
					holder.release(sides.holds)
				} else {
					wait.waits()
					end := holder.release(sides.holds)
					if got := wait.granted(); got.Ended < end.Began {
						t.Error("let in before the release")
					}
				}
				other.release(sides.enters)
				w.awaitChildren(path, 0)
			})
		}
	}
}

// Readers that follow each other are let in together; between them and a writer it is first come, first served.
func TestAReadWriteLockIsFirstComeFirstServedAcrossLanguages(t *testing.T) {
	w := newWorld(t)
	for _, kinds := range [][5]string{
		{ours, java, ours, java, ours},
		{java, ours, java, ours, java},
		{ours, java, java, java, ours},
		{java, ours, ours, ours, java},
		{python, ours, python, ours, python},
		{ours, python, ours, python, ours},
		{ours, earlier, ours, earlier, ours},
		{earlier, ours, earlier, ours, earlier},
	} {
		t.Run(kinds[0]+" first, "+kinds[2]+" writes", func(t *testing.T) {
			w := w.in(t)
			path := "/order/" + name("rw")
			var c [5]*contender
			for i, kind := range kinds {
				c[i] = w.readWrite(kind, path)
			}
			c[0].queue(path, read).granted()
			c[1].queue(path, read).granted()
			writer := c[2].queue(path, write)
			early, late := c[3].queue(path, read), c[4].queue(path, read)
			writer.waits()
			c[0].release(read)
			writer.waits()
			early.waits()
			end := c[1].release(read)
			if got := writer.granted(); got.Ended < end.Began {
				t.Error("the writer was let in beside a reader")
			}
			early.waits()
			late.waits()
			end = c[2].release(write)
			if got := early.granted(); got.Ended < end.Began {
				t.Error("a reader was let in beside the writer")
			}
			late.granted()
			c[3].release(read)
			c[4].release(read)
			w.awaitChildren(path, 0)
		})
	}
}

// A writer that takes the read lock and lets go of the write lock stays a reader: no writer that waits slips in
// between.
func TestADowngradeKeepsWritersOut(t *testing.T) {
	w := newWorld(t)
	for _, pair := range [][2]string{
		{ours, java}, {java, ours}, {ours, oldJava}, {ours, python}, {ours, ours}, {java, java}, {ours, earlier}, {earlier, ours},
	} {
		for _, early := range []bool{true, false} {
			t.Run(pair[0]+" downgrades, "+pair[1]+" waits", func(t *testing.T) {
				if pair[0] == java {
					drivers.NeedJavaDowngrade(t)
				}
				w := w.in(t)
				path := "/downgrade/" + name("rw")
				holder, other, third := w.readWrite(pair[0], path), w.readWrite(pair[1], path), w.readWrite(ours, path)
				held := holder.acquire(write)
				var writer *wait
				if early {
					writer = other.queue(path, write)
				}
				nested := holder.acquire(read)
				if number(nested.Nodes[0]) != number(held.Nodes[0]) {
					t.Errorf("the reader %s has not got the number of the writer %s", nested.Nodes[0], held.Nodes[0])
				}
				if !early {
					writer = other.queue(path, write)
				}
				reader := third.queue(path, read)
				writer.waits()
				holder.release(write)
				w.awaitChildren(path, 3)
				writer.waits()
				reader.waits()
				end := holder.release(read)
				if got := writer.granted(); got.Ended < end.Began {
					t.Error("the writer was let in beside the reader")
				}
				reader.waits()
				other.release(write)
				reader.granted()
				third.release(read)
				w.awaitChildren(path, 0)
			})
		}
	}
}

// number is what the server appended to a node's name.
func number(name string) string { return name[max(0, len(name)-10):] }
