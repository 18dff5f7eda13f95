package model

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/gocurator/curator/framework/zktest/explore"
)

// small are worlds that are small also without the reductions.
var (
	plain = [][]Kind{{Plain}, {Plain}}
	tries = [][]Kind{{Try}, {Try}}
	small = map[string]scene{
		"two mutexes":             {c: Config{Clients: two}},
		"a reader and a writer":   {c: Config{Clients: [][]Kind{{Reader}, {Writer}}}},
		"one gives up":            {c: Config{Clients: plain, Faults: Faults{GiveUps: 1}}},
		"without the counter end": {off: CounterEnd, c: Config{Clients: plain, Start: 1<<31 - 1}, want: ErrExclusion},
		"without rule 2":          {off: Rule2, c: Config{Clients: plain, Faults: Faults{Hands: 1}}, want: ErrOrder},
		"without rule 4":          {off: Rule4, c: Config{Clients: tries, Faults: Faults{Hands: 1}}, want: ErrUnheard},
		"without looks":           {off: Looks, c: Config{Clients: plain, Faults: Faults{Cuts: 1}, Steady: 1}, want: explore.ErrStuck},
	}
)

// A traced is a state with what could be seen on the way to it.
type traced struct {
	*world
	history string
}

// seen is all of a step that check.go can see: nodes that come or go, grants that begin or end, and what is wrong.
func seen(from, to *world) string {
	var all strings.Builder
	for d := range to.servers[0].trees {
		before, after := from.servers[0].trees[d].names, to.servers[0].trees[d].names
		for _, n := range slices.Concat(before, after) {
			if slices.Contains(before, n) != slices.Contains(after, n) {
				fmt.Fprintf(&all, " %s", to.text(n))
			}
		}
	}
	for by := range int8(len(to.all)) {
		if from.holds(by) != to.holds(by) {
			fmt.Fprintf(&all, " %s", letter(by))
		}
	}
	if was, is := errors.Unwrap(from.check()), errors.Unwrap(to.check()); was != is {
		fmt.Fprintf(&all, " %v", is)
	}
	return all.String()
}

// histories explores a model, also beyond what is wrong. It returns all that could be seen on the way to a state, and
// the keys of the states in which nothing but faults can happen.
func histories(m explore.Model[*world]) (map[string]bool, explore.Result, error) {
	all := map[string]bool{}
	result, err := explore.Model[traced]{
		Start: traced{world: m.Start},
		Key:   func(key []byte, s traced) []byte { return append(m.Key(key, s.world), s.history...) },
		Steps: func(s traced, step func(string, traced)) {
			isLast := true
			m.Steps(s.world, func(name string, next *world) {
				isLast = isLast && isFault(name)
				step(name, traced{next, s.history + seen(s.world, next)})
			})
			all[s.history] = true
			if isLast {
				all[string(m.Key(nil, s.world))] = true
			}
		},
		IsEnd: func(s traced) bool { return s.isEnd() }, IsFault: isFault, Limit: m.Limit,
	}.Explore()
	return all, result, err
}

// With -states, the worlds of the other tests are compared as well.
func TestReductionsHideNoHistoryAndNoEnd(t *testing.T) {
	scenes := maps.Clone(small)
	if *states > 0 {
		for _, c := range Configs {
			scenes[c.Name] = scene{c: c}
		}
		for name, s := range switches {
			scenes["switch, "+name] = s
		}
	}
	for name, s := range scenes {
		t.Run(name, func(t *testing.T) {
			s.c.Off = s.off
			m := New(s.c)
			m.Start = replay(t, m, s.from)
			m.Limit = cmp.Or(*states, 10_000)
			m.Start.unreduced = true
			all, every, err := histories(m)
			if _, isSmall := small[name]; every.States >= m.Limit && !isSmall {
				t.Skip("larger than the limit")
			} else if every.States >= m.Limit {
				t.Fatalf("%v: larger than the limit", every)
			}
			m.Start.unreduced = false
			reduced, some, errOfSome := histories(m)
			t.Logf("unreduced: %v; reduced: %v", every, some)
			found := errors.Is(err, s.want)
			for h := range all {
				found = found || s.want != nil && strings.Contains(h, s.want.Error())
				if !reduced[h] {
					t.Fatalf("the reduced model does not reach %q", h)
				}
			}
			if !found || errors.Is(err, explore.ErrStuck) != errors.Is(errOfSome, explore.ErrStuck) {
				t.Errorf("got %v, reduced %v, want %v", err, errOfSome, s.want)
			}
			if every.States <= some.States {
				t.Error("nothing is reduced")
			}
		})
	}
}
