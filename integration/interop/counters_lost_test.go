//go:build linux

package interop_test

import "sync"

// Java's client repeats a conditional setData whose answer was lost. Then the version is wrong by its own write, so the
// recipe reads the new value and adds again: one call that succeeds has counted twice. So does kazoo's. Ours repeats
// the write, too, but does not add again: it cannot know whose write has moved the version on, and says so.
func lostAnswer(w *world) {
	var losing sync.WaitGroup // all at a time: Java waits up to a second before it connects again
	for _, kind := range numberKinds {
		for _, language := range []string{java, ours, python} {
			if language == python && kind.recipe != "atomicinteger" {
				continue // kazoo has one of four bytes alone
			}
			link, path := newProxy(w.t, w.addr), "/"+name(kind.recipe)
			user, outcome, after := numberUser{}, "9", "9"
			if language == ours {
				user, outcome, after = kind.ours(w, w.ourClient(link.addr()), path), "unknown", "8"
			} else {
				user = theirNumber(w.clientIn(fleet.get(w.t, language), language, link.addr()), kind.recipe, path, "")
			}
			losing.Go(func() { w.loseIncrement(link, user, language+"'s "+kind.recipe, outcome, after) })
		}
	}
	losing.Wait()
}

// loseIncrement loses the answer to an increment, and checks its outcome, and the value afterwards.
func (w *world) loseIncrement(link *proxy, user numberUser, what, outcome, after string) {
	if got := user.call(numberStep{op: "add", value: 7}); got != "7" {
		w.t.Errorf("%s: add 7 to a new one: got %s, want 7", what, got)
		return
	}
	lost := link.loseSet(cut)
	got := user.call(numberStep{op: "add", value: 1})
	<-lost.happened
	if then := user.call(numberStep{op: "value"}); got != outcome || then != after {
		w.t.Errorf("%s: add 1 to 7, and the answer is lost: got %s, and then %s, want %s, and %s", what, got, then, outcome, after)
	}
}

// kazooCounts: kazoo's counter has the bytes of Curator's, if it is asked to.
func kazooCounts(w *world) {
	recipe, path := "atomicinteger", "/"+name("kazoo")
	users := map[string]numberUser{
		python: theirNumber(w.client(python), recipe, path, ""),
		java:   theirNumber(w.client(java), recipe, path, ""),
		ours:   numberKinds[1].ours(w, w.ourClient(w.addr), path),
	}
	for _, c := range []struct {
		language string
		add      int64
		want     string
	}{{python, 5, "5"}, {ours, -300, "-295"}, {java, 1, "-294"}, {python, 300, "6"}} {
		if got := users[c.language].call(numberStep{op: "add", value: c.add}); got != c.want {
			w.t.Errorf("%s adds %d: got %s, want %s", c.language, c.add, got, c.want)
		}
		for language, user := range users {
			if got := user.call(numberStep{op: "value"}); got != c.want {
				w.t.Errorf("%s reads %s, want %s", language, got, c.want)
			}
		}
	}
}
