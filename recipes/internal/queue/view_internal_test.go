package queue

import (
	"fmt"
	"testing"
)

func TestAViewDecidesOnlyWhatItKnows(t *testing.T) {
	const writer, reader = "__WRIT__0000000003", "__READ__0000000004"
	me := Node{Name: lockNode(5), number: 5}
	for name, test := range map[string]struct {
		facts func(v *View)
		me    Node
		known bool
		ahead int
	}{
		"nothing":                              {func(*View) {}, me, false, 0},
		"a listing without the contender":      {func(v *View) { v.List([]string{writer}) }, me, false, 0},
		"a listing":                            {func(v *View) { v.List([]string{writer, lockNode(5)}) }, me, true, 1},
		"a deletion that was not heard of yet": {func(v *View) { v.List([]string{lockNode(4), lockNode(5)}) }, me, true, 1},
		"a deletion":                           {func(v *View) { v.List([]string{lockNode(4), lockNode(5)}); v.Remove(lockNode(4)) }, me, true, 0},
		"a writer's deletion":                  {func(v *View) { v.List([]string{writer, lockNode(5)}); v.Remove(writer) }, me, false, 0},
		"the deletion of a writer not in it":   {func(v *View) { v.List([]string{lockNode(5)}); v.Remove(writer) }, me, false, 0},
		"a writer's deletion, then another's": {func(v *View) {
			v.List([]string{writer, lockNode(4), lockNode(5)})
			v.Remove(writer)
			v.Remove(lockNode(4))
		}, me, false, 0},
		"a writer's deletion, and a new listing": {func(v *View) { v.Remove(writer); v.List([]string{lockNode(5)}) }, me, true, 0},
		"a writer's deletion, then the next node": {func(v *View) {
			v.List([]string{writer})
			v.Remove(writer)
			v.AppendNext(me)
		}, me, true, 0},
		"a writer's deletion, for a reader": {func(v *View) {
			v.List([]string{writer, reader})
			v.Remove(writer)
		}, Node{Name: reader, Shared: true, number: 4}, true, 0},
		"a number near the end of the counter": {func(v *View) {
			v.List([]string{lockNode(firstDoubtful)})
		}, Node{Name: lockNode(firstDoubtful), number: firstDoubtful}, false, 0},
	} {
		v := &View{Markers: newMarkers(LockMarkers())}
		test.facts(v)
		got, known := v.Decision(test.me)
		if known != test.known || got.Ahead != test.ahead || known && got.Admitted != (test.ahead == 0) {
			t.Errorf("%s: got %+v, known %v, want %d ahead, known %v", name, got, known, test.ahead, test.known)
		}
	}
}

// FuzzViewLacksNoNodeAhead plays sessions in a directory: ours creates nodes with and without a listing and hears of
// deletions late, others create and delete, and writers go on as readers. Whenever the view decides, it counts every
// node that is ahead.
func FuzzViewLacksNoNodeAhead(f *testing.F) {
	f.Add([]byte{0, 0, 0, 1, 0, 2, 0, 3, 0, 4})
	f.Add([]byte{5, 0, 1, 1, 0, 7, 3, 5, 6, 0, 4, 2, 0})
	f.Add([]byte{0, 5, 0, 6, 4, 0, 1, 0, 0, 6, 4})
	f.Fuzz(func(t *testing.T, steps []byte) {
		p := &viewPlay{view: View{Markers: newMarkers(LockMarkers())}, unlisted: Unlisted{Next: -1}}
		for _, step := range steps {
			p.step(step)
			p.check(t)
		}
	})
}

// A viewPlay is a directory, and what one session knows of it.
type viewPlay struct {
	view     View
	unlisted Unlisted

	there   []string // in the directory
	created int32
	ours    []string
	unheard []string // deleted, and the session has not heard of that yet
}

func (p *viewPlay) step(step byte) {
	pick := func(names []string) string { return names[int(step>>3)%len(names)] }
	switch step & 7 {
	case 0: // ours enters, with a listing
		p.create(mutexOf(p.created), true)
		p.list()
	case 1: // ours enters, without one
		p.create(mutexOf(p.created), true)
	case 2: // another session's
		p.create(mutexOf(p.created), false)
	case 3: // a writer of another session's
		p.create(fmt.Sprintf("__WRIT__%010d", p.created), false)
	case 4: // a deletion
		if len(p.there) > 0 {
			p.remove(pick(p.there))
		}
	case 5: // the session hears of the oldest deletion
		if len(p.unheard) > 0 {
			p.view.Remove(p.unheard[0])
			p.unheard = p.unheard[1:]
		}
	case 6: // a writer goes on as a reader
		for _, name := range p.there {
			if n, _ := p.view.Markers.Parse(name); mayReadOn(name) {
				p.create(fmt.Sprintf("__READ__%010d", n.number), false)
				p.remove(name)
				return
			}
		}
	case 7: // ours lists
		p.list()
	}
}

func mutexOf(number int32) string { return lockNode(int(number)) }

func (p *viewPlay) create(name string, ours bool) {
	p.there = append(p.there, name)
	p.created++
	if !ours {
		return
	}
	p.hear() // the answer comes after the events of all that was before (S1)
	p.ours = append(p.ours, name)
	n, ok := p.view.Markers.Parse(name)
	p.unlisted.Created(&p.view, n, ok, p.unlisted.DirCzxid != 0)
}

func (p *viewPlay) list() {
	p.hear()
	p.view.List(append([]string{}, p.there...))
	p.unlisted.Listed(stat(1, p.created, int32(len(p.there))))
}

// hear has the session hear of most deletions: of those for which it has a watch. It has none on the oldest.
func (p *viewPlay) hear() {
	for len(p.unheard) > 1 {
		p.view.Remove(p.unheard[1])
		p.unheard = append(p.unheard[:1], p.unheard[2:]...)
	}
}

func (p *viewPlay) remove(name string) {
	p.there = without(p.there, name)
	p.unheard = append(p.unheard, name)
}

func without(names []string, name string) []string {
	var rest []string
	for _, n := range names {
		if n != name {
			rest = append(rest, n)
		}
	}
	return rest
}

func (p *viewPlay) check(t *testing.T) {
	t.Helper()
	nodes := p.view.Markers.ParseAll(p.there)
	for _, name := range p.ours {
		me, _ := p.view.Markers.Parse(name)
		if got, known := p.view.Decision(me); known && got.Ahead < Decide(nodes, me).Ahead {
			t.Fatalf("%s among %q: got %+v, want at least %d ahead", name, p.there, got, Decide(nodes, me).Ahead)
		}
	}
}
