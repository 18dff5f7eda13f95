package lockstest

import (
	"fmt"
	"strings"
	"testing"

	"github.com/gocurator/curator/recipes/locks"
)

func strangers() []law {
	return []law{
		{name: "G11 strangers do not block/children of no kind", unless: composed, run: strangersDoNotBlock},
		{name: "G11 strangers do not block/other libraries' nodes count", run: otherLibrariesCount},
		{name: "G11 strangers do not block/extra markers count", unless: composed, run: extraMarkersCount},
		{name: "G11 strangers do not block/order up to the counter's end", needs: []Capability{Counters}, unless: composed, run: theOrderLastsUpToTheEnd},
		{name: "G11 strangers do not block/no one beyond the counter's end", needs: []Capability{Counters}, unless: composed, run: nobodyIsLetInBeyondTheEnd},
	}
}

// makeDirs makes the directories by hand, so that something can be put there.
func (w *world) makeDirs() {
	w.t.Helper()
	for _, dir := range append([]string{"/laws", w.path}, w.dirs()...) {
		if w.server.Stat(dir) == nil {
			w.server.Create(dir, nil)
		}
	}
}

func strangersDoNotBlock(t testing.TB, w *world) {
	w.makeDirs()
	var foreign []string
	for _, dir := range w.dirs() {
		for _, name := range []string{
			"a", "0000000000", "lock-", "lock-1", "block-0000000000", "latch-0000000000", "LOCK-0000000000", "lock-000000000x",
			"_c_6ba7b810-9dad-41d1-80b4-00c04fd430c8-latch-0000000000", "ключ-0000000000", "lock-00000000000000000000",
		} {
			if own := w.recipe.Marker + "0000000000"; name == own || strings.HasSuffix(name, "-"+own) {
				continue // a latch's
			}
			w.server.Create(dir+"/"+name, nil)
			foreign = append(foreign, dir+"/"+name)
		}
	}
	c := w.client()
	try, err := c.lock().TryAcquire(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if err := try.Release(); err != nil {
		t.Error(err)
	}
	held := c.fill()
	next := w.client().queue()
	next.isWaiting()
	held.release(t)
	next.get()
	for _, node := range foreign {
		w.server.Delete(node)
	}
}

func otherLibrariesCount(t testing.TB, w *world) {
	if len(w.recipe.Foreign) == 0 {
		t.Skip("there are none for this recipe")
	}
	w.makeDirs()
	for _, name := range w.recipe.Foreign {
		node := fmt.Sprintf("%s/%s%010d", w.dirs()[0], name, -1) // before everybody who comes now
		w.server.Create(node, nil)
		c := w.client()
		if lease, err := c.lock().TryAcquire(t.Context()); !isNotAcquired(err) {
			t.Errorf("TryAcquire beside %s: %v, %v", name, lease, err)
		}
		waiter := c.queue()
		w.server.Delete(node)
		if err := waiter.get().Release(); err != nil {
			t.Error(err)
		}
	}
}

func extraMarkersCount(t testing.TB, w *world) {
	if w.recipe.Dirs != nil {
		t.Skip("no other library has nodes in its directories")
	}
	w.makeDirs()
	node := w.path + "/theirs-0000000000"
	w.server.Create(node, nil)
	c := w.client()
	plain := c.start(c.lock()).get()
	if err := plain.Release(); err != nil {
		t.Error(err)
	}
	waiter := c.queue(locks.WithExtraMarkers("theirs-"))
	if got := waiter.isBehind(c, "theirs-"); got != node[len(w.path)+1:] {
		t.Errorf("it waits for %q", got)
	}
	w.server.Delete(node)
	waiter.get()
}

// isBehind gives up a further wait to learn whom it was for.
func (a *attempt) isBehind(c *contact, marker string) string {
	a.w.t.Helper()
	a.isWaiting()
	_, err := c.lock(locks.WithExtraMarkers(marker)).TryAcquire(a.w.t.Context())
	if !isNotAcquired(err) {
		a.w.t.Errorf("TryAcquire: %v", err)
	}
	for _, node := range a.w.server.Children(a.w.path) {
		if len(node) > len(marker) && node[:len(marker)] == marker {
			return node
		}
	}
	return ""
}
