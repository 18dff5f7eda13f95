//go:build linux

package run

import (
	"fmt"
	"slices"
	"testing"
)

func TestStatLinesOfAnyNameAreRead(t *testing.T) {
	for line, want := range map[string]process{
		"12 (sleep) S 3 12 12 0 -1":      {12, 3, 12, "S", "sleep"},
		"12 (a) b) (c) Z 3 4 12 0 -1\n":  {12, 3, 4, "Z", "a) b) (c"},
		"12 (new\nline) R 1 1 12 0 -1\n": {12, 1, 1, "R", "new\nline"},
	} {
		if got, ok := parseStat([]byte(line)); !ok || got != want {
			t.Errorf("%q: got %+v, %v, want %+v", line, got, ok, want)
		}
	}
	for _, line := range []string{"", "12", "12 (x", "12 (x) S", "x (y) S 1 1", ") S ( 1 1"} {
		if got, ok := parseStat([]byte(line)); ok {
			t.Errorf("%q: got %+v, want it refused", line, got)
		}
	}
}

func FuzzStatLine(f *testing.F) {
	f.Add("sleep", 7, 8)
	f.Add("a) R 1 1 (", 1, 2)
	f.Fuzz(func(t *testing.T, name string, parent, group int) {
		got, ok := parseStat(fmt.Appendf(nil, "5 (%s) S %d %d 0 0", name, parent, group))
		if want := (process{5, parent, group, "S", name}); !ok || got != want {
			t.Errorf("got %+v, %v, want %+v", got, ok, want)
		}
	})
}

func TestDescendantsAreFoundThroughZombiesAndCircles(t *testing.T) {
	all := []process{
		{2, 1, 2, "S", "child"},
		{3, 2, 2, "Z", "zombie"},
		{4, 3, 4, "S", "of the zombie"},
		{5, 99, 5, "S", "stranger"},
		{1, 4, 1, "S", "the root, as its own descendant"},
	}
	var got []int
	for _, p := range below(1, all) {
		got = append(got, p.pid)
	}
	if want := []int{2, 4}; !slices.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
}
