package journaltest

import "testing"

const lockMarkers = "__READ__/true/__WRIT__/false/__lock__/false/__rlock__/true/lock-/false/"

func TestPlacesInAQueueByName(t *testing.T) {
	for name, want := range map[string]place{
		"lock-0000000007":          {number: 7},
		"_c_1f-2e-lock-0000000000": {},
		"_c_1f-lock-2147483647":    {number: 1<<31 - 1},
		"lock--000000005":          {number: -5},
		"lock--2147483648":         {number: -1 << 31},
		"_c_1f-__READ__0000000007": {number: 7, shared: true},
		"_c_1f-__WRIT__0000000007": {number: 7, writer: true},
		"1f2e__lock__0000000007":   {number: 7},
		"1f2e__rlock__0000000007":  {number: 7, shared: true},
		"__WRIT__-lock-0000000007": {number: 7},
		// None of a queue's:
		"":                       {number: -1},
		"0000000007":             {number: -1},
		"lock-":                  {number: -1},
		"lock-000000007":         {number: -1},
		"lock-00000000007":       {number: -1},
		"lock-+000000007":        {number: -1},
		"lock--0000000007":       {number: -1},
		"lock--000000000":        {number: -1},
		"lock-3000000000":        {number: -1},
		"lock-000000000x":        {number: -1},
		"block-0000000007":       {number: -1},
		"_c_1f-lease-0000000007": {number: -1},
		"leases":                 {number: -1},
	} {
		none := want == place{number: -1}
		if got, ok := placeOf(lockMarkers, name); ok == none || ok && got != want {
			t.Errorf("%q: got %+v, %v, want %+v, %v", name, got, ok, want, !none)
		}
	}
}

func TestPlacesByOtherMarkers(t *testing.T) {
	for markers, want := range map[string]bool{
		"lease-/false/": true, "e-/false/": false, "": false, "lock-/false/": false, "lock-/false/lease-/true/": true,
	} {
		if _, got := placeOf(markers, "_c_1f-lease-0000000007"); got != want {
			t.Errorf("markers %q: got a place: %v, want %v", markers, got, want)
		}
	}
	for markers, want := range map[string]bool{"x-/false/a-x-/true/": true, "a-x-/false/x-/true/": false} {
		if got, ok := placeOf(markers, "a-x-0000000007"); !ok || got.shared != want {
			t.Errorf("markers %q: got %+v, %v, want shared %v by the longest marker", markers, got, ok, want)
		}
	}
}

func TestTheLastNumbersOfADirectory(t *testing.T) {
	for name, want := range map[string]bool{
		"lock-2147483647": true, "lock-2147483648": true, "lock--2147483648": true, "lock--1234567890": true, "lock--000000005": true,
		"lock-2147483646": false, "lock-0000000000": false, "2147483647": true, "lock": false, "lock--abcdefghij": false,
	} {
		if got := isLast(name); got != want {
			t.Errorf("%q: got last %v, want %v", name, got, want)
		}
	}
}

func TestWhoIsAhead(t *testing.T) {
	one, two := place{number: 1}, place{number: 2}
	reads := func(p place) place { p.shared = true; return p }
	for name, test := range map[string]struct {
		other, me place
		want      bool
	}{
		"lower": {one, two, true}, "greater": {two, one, false}, "itself": {one, one, false},
		"lower, of a reader for a writer": {reads(one), two, true}, "lower, of a writer for a reader": {one, reads(two), true},
		"lower, of a reader for a reader": {reads(one), reads(two), false},
	} {
		if got := test.other.ahead(test.me); got != test.want {
			t.Errorf("%s: got ahead %v, want %v", name, got, test.want)
		}
	}
}

func TestPathsAreSplitAndJoined(t *testing.T) {
	for path, want := range map[string][2]string{"/a/b/c": {"/a/b", "c"}, "/a": {"/", "a"}} {
		dir, name := splitPath(path)
		if dir != want[0] || name != want[1] || join(dir, name) != path {
			t.Errorf("%s: got %q and %q, joined %s, want %q", path, dir, name, join(dir, name), want)
		}
	}
}
