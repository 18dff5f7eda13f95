//go:build linux

package interop_test

import (
	"strings"
	"testing"
	"time"

	"github.com/gocurator/curator/framework/zktest"
	"github.com/gocurator/curator/framework/zktest/await"
	"github.com/gocurator/curator/integration/interop/godriver"
)

// What the peers cannot do, each shown. Package interop's documentation has a paragraph on each; if one of these tests
// fails, a peer has learnt something, and the paragraph is to be changed.

func TestKazooIgnoresOtherLanguagesWithoutExtraPatterns(t *testing.T) {
	w := newWorld(t)
	for _, kind := range []string{ours, goZK, java} {
		path := "/ignores/" + name("mutex")
		holder := w.mutex(kind, path)
		holder.acquire()
		unset := w.contender(python, godriver.Order{Recipe: "mutex", Path: path, Patterns: []string{}})
		if !unset.try(within(0)) {
			t.Errorf("kazoo waits for %s without extra patterns", kind)
		} else {
			unset.release()
		}
		set := w.mutex(python, path)
		if set.try(within(0)) {
			t.Errorf("kazoo does not wait for %s, although it is set to", kind)
		}
		holder.release()
	}
	// The other way round nothing has to be set.
	path := "/ignores/" + name("mutex")
	holder := w.contender(python, godriver.Order{Recipe: "mutex", Path: path, Patterns: []string{}})
	holder.acquire()
	if w.mutex(ours, path).try(within(0)) {
		t.Error("acquired what kazoo holds")
	}
	holder.release()
}

func TestCuratorNeverCountsKazoo(t *testing.T) {
	w := newWorld(t)
	for _, kind := range []string{java, oldJava} {
		path := "/never/" + name("mutex")
		holder, other := w.mutex(python, path), w.mutex(kind, path)
		holder.acquire()
		if !other.try(within(0)) {
			t.Errorf("%s waits for kazoo", kind)
		}
		w.awaitChildren(path, 2) // two holders
		other.release()
		holder.release()
	}
}

// Curator's mutex takes the nodes of a read/write lock for late ones, and the other way round. Ours count both.
func TestAMutexAndAReadWriteLockOnOnePath(t *testing.T) {
	w := newWorld(t)
	mutex := func(kind, path string) *contender {
		return w.contender(kind, godriver.Order{Recipe: "mutex", Path: path})
	}
	for _, c := range []struct {
		holder, other string
		excludes      bool // whether the other one waits
	}{
		{java, java, false},
		{ours, java, false},
		{java, ours, true},
		{ours, ours, true},
	} {
		for _, first := range []string{"mutex", "write lock", "read lock"} {
			path := "/both/" + name("lock")
			var held, got bool
			side := write
			if first == "read lock" {
				side = read
			}
			if first == "mutex" {
				held = mutex(c.holder, path).try()
				got = w.readWrite(c.other, path).try(side, within(0))
			} else {
				held = w.readWrite(c.holder, path).try(side)
				got = mutex(c.other, path).try(within(0))
			}
			if !held || got == c.excludes {
				t.Errorf("%s holds a %s: does %s wait? %v, want %v", c.holder, first, c.other, !got, c.excludes)
			}
		}
	}
}

// The counter of a directory ends after 2³¹ nodes, and servers before 3.6 go on with negative numbers, which Curator
// puts first. Ours are refused before that, and wait for Curator's that have such numbers.
func TestCuratorSortsByTextBeyondTheEndOfTheCounter(t *testing.T) {
	server := zktest.New(t, zktest.WithVersion("3.5"))
	w := newWorldAt(t, server.Addr())
	end := func(path string, next int32) {
		t.Helper()
		if err := server.Create(path, nil); err != nil {
			t.Fatal(err)
		}
		server.SetCreateCounter(path, next)
	}
	if err := server.Create("/wrap", nil); err != nil {
		t.Fatal(err)
	}

	t.Run("ours wait for Curator beyond it", func(t *testing.T) {
		w := w.in(t)
		end("/wrap/right", -2147483648)
		holder, other := w.mutex(java, "/wrap/right"), w.mutex(ours, "/wrap/right")
		if held := holder.acquire(); !strings.HasSuffix(held.Nodes[0], "-2147483648") {
			t.Fatalf("the holder has %s", held.Nodes[0])
		}
		server.SetCreateCounter("/wrap/right", 5)
		wait := other.queue("/wrap/right")
		wait.waits()
		holder.release()
		wait.granted()
		other.release()
	})
	t.Run("Curator waits for no one across it", func(t *testing.T) {
		w := w.in(t)
		end("/wrap/wrong", 2147483647)
		first, second := w.mutex(java, "/wrap/wrong"), w.mutex(java, "/wrap/wrong")
		first.acquire()
		if !second.try(within(0)) {
			t.Error("Curator waits across the end")
		} else {
			second.release()
		}
		first.release()
	})
}

// Up to 5.4 Curator gives the reader that a writer becomes a number of its own, behind those who wait. It is the
// library that downgrades that does it wrong; the waiter does what it must.
func TestOldCuratorLetsAWriterInAfterItsOwnDowngrade(t *testing.T) {
	w := newWorld(t)
	for _, kind := range []string{oldJava, java, ours} {
		t.Run(kind+" waits", func(t *testing.T) {
			w := w.in(t)
			path := "/old/" + name("rw")
			holder, other := w.readWrite(oldJava, path), w.readWrite(kind, path)
			held := holder.acquire(write)
			writer := other.queue(path, write)
			nested := holder.acquire(read)
			if number(nested.Nodes[0]) == number(held.Nodes[0]) {
				t.Errorf("the reader has the number of the writer: %v", nested.Nodes)
			}
			writer.waits()
			holder.release(write)
			writer.granted() // while the old one reads
			w.awaitChildren(path, 2)
			holder.release(read)
			other.release(write)
		})
	}
}

// Curator's recipes do not notice that they share a path with another one that does not fit; ours refuse it.
func TestASemaphoreAndAMutexOnOnePath(t *testing.T) {
	w := newWorld(t)
	path := "/misfit/" + name("lock")
	order := godriver.Order{Recipe: "semaphoremutex", Path: path}
	w.contender(java, order).acquire()
	if !w.mutex(java, path).try(within(0)) {
		t.Error("Curator's mutex waits for a semaphore")
	}
	for _, recipe := range []string{"mutex", "rw"} {
		k := w.contender(ours, godriver.Order{Recipe: recipe, Path: path})
		if a := <-k.process.Order(k.order("acquire")); a.Error == "" {
			t.Errorf("our %s goes together with a semaphore", recipe)
		}
	}
	// zk.Lock stumbles over every child that is no lock, and leaves its node behind until its session ends.
	k := w.mutex(goZK, path)
	if a := <-k.process.Order(k.order("acquire")); a.Error == "" {
		t.Error("zk.Lock goes together with a semaphore")
	}
}

// A child that is no lock node blocks Curator for ever if its name sorts before the numbers. Ours ignore it.
func TestCuratorWaitsForStrangers(t *testing.T) {
	w := newWorld(t)
	for _, kind := range []string{java, ours} {
		path := "/strangers/" + kind
		k := w.mutex(kind, path)
		k.acquire()
		if _, err := w.observer.Create(path+"/0", nil, 0, worldACL); err != nil {
			t.Fatal(err)
		}
		k.release()
		limit := 300 * time.Millisecond
		if kind == ours {
			limit = patience / 2 // a busy machine may need longer for what is free
		}
		if got, want := k.try(within(limit)), kind == ours; got != want {
			t.Errorf("%s acquires beside a stranger: %v, want %v", kind, got, want)
		}
	}
}

// Curator returns a lease whose node went with the session: it ended while the acquire was busy leaving its inner
// mutex. Ours has ended before the next one is let in.
func TestCuratorReturnsALeaseOfADeadSession(t *testing.T) {
	w := newWorld(t)
	for _, kind := range []string{java, ours} {
		t.Run(kind, func(t *testing.T) {
			w := w.in(t)
			path := "/dead/" + kind
			order := godriver.Order{Recipe: "semaphore", Path: path, Max: 1}
			p := newProxy(t, w.addr)
			late := w.mortal(4*time.Second).clientIn(fleet.get(t, kind), kind, p.addr()).contender(order)
			lost := p.loseDelete(away)
			answer := late.process.Order(late.order("acquire"))
			await.Receive(t, patience, kind+" to leave its inner mutex", lost.happened)
			w.awaitChildren(path+"/leases", 0) // the session is over
			holder := w.contender(ours, order)
			held := holder.acquire()
			p.refuse(false)
			if kind == java {
				if a := w.wait(late.process, "acquire", answer); !a.OK {
					t.Errorf("Curator has learnt that a session can end: %+v", a)
				}
				w.awaitChildren(path+"/leases", 1) // ours
			} else {
				select {
				case a := <-answer: // it leaves its inner mutex in the background, and got its lease before
					if a.OK && a.Valid > held.Ended {
						t.Errorf("two hold: %+v, %+v", a, held)
					}
				case <-time.After(time.Second):
				}
			}
			holder.release()
		})
	}
}
