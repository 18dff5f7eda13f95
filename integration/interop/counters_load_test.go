//go:build linux

package interop_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"sync"
	"time"

	"github.com/gocurator/curator/recipes/counters"
)

// increments is how often each of four threads and four goroutines increments a number.
const increments = 100

// cuts is how often each connection is cut: each time costs a client up to a second.
const cuts = 5

// All increment the same number at a time. No value comes out twice, and none is left out.
func underLoad(w *world) {
	t := w.t
	javaClient, goClient := w.client(java), w.ourClient(w.addr)
	for _, kind := range numberKinds {
		for _, locked := range []bool{false, true} {
			path, lock := "/"+name(kind.recipe), ""
			var opts []counters.Option
			if locked {
				lock = path + "-lock"
				opts = append(opts, counters.WithLock(lock))
			}
			var users []numberUser
			for range 4 {
				users = append(users, theirNumber(javaClient, kind.recipe, path, lock), kind.ours(w, goClient, path, opts...))
			}
			began := time.Now()
			values, unknown := countTogether(users)
			fmt.Fprintf(t.Output(), "%s, lock %q: %v\n", kind.recipe, lock, time.Since(began).Round(time.Millisecond))
			if unknown > 0 {
				t.Errorf("%s: got %d unknown outcomes without a fault, want none", path, unknown)
			}
			w.checkCounted(path, users[0], values, 0)
		}
	}
}

// Connections of ours are cut again and again. An increment of ours whose outcome is unknown may have counted once, but
// no increment counts twice.
func underResets(w *world) {
	t := w.t
	path := "/" + name("resets")
	users := []numberUser{theirNumber(w.client(java), "atomiclong", path, ""), theirNumber(w.client(java), "atomiclong", path, "")}
	var links []*proxy
	for range 2 {
		link := newProxy(t, w.addr)
		client := w.ourClient(link.addr())
		links = append(links, link)
		users = append(users, numberKinds[0].ours(w, client, path), numberKinds[0].ours(w, client, path))
	}
	stop := make(chan struct{})
	var cutting sync.WaitGroup
	lost := 0
	cutting.Go(func() {
		for range cuts {
			for _, link := range links {
				loss := link.loseSet(cut)
				select {
				case <-stop:
					return
				case <-loss.happened:
					lost++
				}
				select {
				case <-stop:
					return
				case <-time.After(rand.N(20 * time.Millisecond)):
				}
			}
		}
	})
	values, unknown := countTogether(users)
	close(stop)
	cutting.Wait()
	fmt.Fprintf(t.Output(), "%d values, %d unknown, %d answers lost\n", len(values), unknown, lost)
	if lost == 0 {
		t.Error("got no lost answer, want some")
	}
	w.checkCounted(path, users[0], values, unknown)
}

// countTogether has all increment at a time.
func countTogether(users []numberUser) (values []int64, unknown int) {
	var mu sync.Mutex
	var counting sync.WaitGroup
	for _, user := range users {
		counting.Go(func() {
			v, u := user.count(increments)
			mu.Lock()
			defer mu.Unlock()
			values, unknown = append(values, v...), unknown+u
		})
	}
	counting.Wait()
	return values, unknown
}

// checkCounted checks that each value that came out is another one, and that the number is their count and no more than
// the unknown ones greater.
func (w *world) checkCounted(path string, user numberUser, values []int64, unknown int) {
	w.t.Helper()
	slices.Sort(values)
	for i := range values[1:] {
		if values[i] == values[i+1] {
			w.t.Errorf("%s: the value %d came out twice", path, values[i])
		}
	}
	var got int
	if _, err := fmt.Sscan(user.call(numberStep{op: "value"}), &got); err != nil {
		w.t.Fatal(err)
	}
	if got < len(values) || got > len(values)+unknown {
		w.t.Errorf("%s: got %d, want %d, or up to %d more", path, got, len(values), unknown)
	}
}
