package queue

import (
	"fmt"
	"math"
	"testing"
)

const (
	dashed = "_c_6ba7b810-9dad-41d1-80b4-00c04fd430c8-" // Curator's and ours
	plain  = "_c_0123456789abcdef0123456789abcdef-"     // go-zookeeper's
	kazoo  = "0123456789abcdef0123456789abcdef"
)

func TestNamesOfLockNodesAreUnderstood(t *testing.T) {
	for name, want := range map[string]Node{
		dashed + "lock-0000000001":     {number: 1},
		dashed + "lock-2147483647":     {number: math.MaxInt32},
		dashed + "lock--2147483648":    {number: math.MinInt32},
		dashed + "lock--2147483647":    {number: math.MinInt32 + 1},
		dashed + "lock--1000000000":    {number: -1e9},
		dashed + "lock--999999999":     {number: -999999999},
		dashed + "lock--000000001":     {number: -1},
		dashed + "__READ__0000000007":  {number: 7, Shared: true},
		dashed + "__WRIT__0000000007":  {number: 7},
		dashed + "__READ__-000000007":  {number: -7, Shared: true},
		dashed + "__READ__-2147483647": {number: math.MinInt32 + 1, Shared: true},
		dashed + "__WRIT__-1000000001": {number: -1000000001},
		plain + "lock-0000000012":      {number: 12},
		kazoo + "__lock__0000000003":   {number: 3},
		kazoo + "__rlock__0000000003":  {number: 3, Shared: true},
		kazoo + "__rlock__-2000000003": {number: -2000000003, Shared: true},
		"lock-0000000001":              {number: 1}, // Curator without protection
		"__WRIT__0000000001":           {number: 1},
		dashed + "zk-lock-0000000001":  {number: 1},
	} {
		got, ok := newMarkers(LockMarkers()).Parse(name)
		want.Name = name
		if !ok || got != want {
			t.Errorf("%s: %+v, %v, want %+v", name, got, ok, want)
		}
	}
}

func TestOtherNamesAreNoLockNodes(t *testing.T) {
	for _, name := range []string{
		"", "-", "a", "lock-", "lock-1", "0000000001", "-000000001", dashed, dashed + "0000000001", dashed + "lock-",
		"lock-000000001", "lock-00000000001", "lock-+000000001", "lock-2147483648", "lock--2147483649", "lock-0x00000001",
		"lock- 000000001", "lock-００００００００００", "lock-0000000001 ", "block-0000000001", "unlock-0000000001", "LOCK-0000000001",
		dashed + "latch-0000000001", dashed + "lease-0000000001", "lock-0000000001-", "locks", "leases", "lock--0000000001",
		"\x00lock-0000000001\x00",
		dashed + "__READ__lock-0000000001", // "lock-" must stand by itself
		"lock-\xff000000001",
	} {
		if n, ok := newMarkers(LockMarkers()).Parse(name); ok {
			t.Errorf("%q was taken for %+v", name, n)
		}
	}
}

func TestExtraMarkersCountAsExclusive(t *testing.T) {
	for name, want := range map[string]int32{
		"theirs-0000000003": 3, dashed + "theirs--2147483647": math.MinInt32 + 1, dashed + "theirs-2147483647": math.MaxInt32,
	} {
		if n, ok := newMarkers(LockMarkers("ours", "theirs-")).Parse(name); !ok || n.number != want || n.Shared {
			t.Errorf("%s: %+v, %v", name, n, ok)
		}
	}
	if n, ok := newMarkers(LockMarkers("x")).Parse("x2147483647"); !ok || n.number != math.MaxInt32 {
		t.Errorf("a marker without a dash: %+v, %v", n, ok)
	}
	if n, ok := newMarkers(LockMarkers("x")).Parse("x-2147483647"); !ok || n.number != math.MinInt32+1 {
		t.Errorf("a marker without a dash, before a negative number: %+v, %v", n, ok)
	}
	if n, ok := newMarkers(LockMarkers()).Parse("theirs-0000000003"); ok {
		t.Errorf("not asked for: %+v", n)
	}
}

// What the server makes of our names is understood again, whatever the number.
func FuzzNodeName(f *testing.F) {
	for _, seed := range []struct {
		number int32
		name   string
	}{
		{0, ""},
		{1, "lock-0000000001"},
		{math.MaxInt32, kazoo + "__lock__0000000003"},
		{math.MinInt32, plain + "lock-0000000012"},
		{-1, dashed + "latch-0000000001"},
		{-5, "-000000005"},
		{-999999999, "lock--2147483648"},
		{-1000000000, "\x00\xff"},
	} {
		f.Add(seed.number, seed.name)
	}
	f.Fuzz(func(t *testing.T, number int32, garbage string) {
		if n, ok := newMarkers(LockMarkers("x", garbage)).Parse(garbage); ok && n.Name != garbage {
			t.Errorf("%q became %q", garbage, n.Name)
		}
		_, _, _ = cutNumber(garbage)
		for _, marker := range []string{MutexMarker, ReadMarker, WriteMarker} {
			for _, prefix := range []string{"", dashed, plain} {
				name := fmt.Sprintf("%s%s%010d", prefix, marker, number)
				n, ok := newMarkers(LockMarkers()).Parse(name)
				if want := (Node{Name: name, Shared: marker == ReadMarker, number: number}); !ok || n != want {
					t.Errorf("%s: %+v, %v", name, n, ok)
				}
				if head, got, ok := cutNumber(name); !ok || got != number || head != prefix+marker {
					t.Errorf("cutNumber(%s): %q, %d, %v", name, head, got, ok)
				}
			}
		}
	})
}

func TestNumbersBeyondTheEndAreRecognised(t *testing.T) {
	for name, want := range map[string]bool{
		lockNode(0): false, lockNode(lastNumber): false, lockNode(lastNumber + 1): true, lockNode(math.MaxInt32): true,
		lockNode(math.MinInt32): true, lockNode(-1): true,
		"lock-2147483648": true, "lock-10000000000": true, // as of servers that count in 64 bits
	} {
		if got := Exhausted(name); got != want {
			t.Errorf("Exhausted(%s) is %v, want %v", name, got, want)
		}
	}
}

func TestAQueueCountsTheNodesOfItsOwnMarkersAlone(t *testing.T) {
	latch := newMarkers(map[string]bool{"latch-": false})
	for name, want := range map[string]bool{
		dashed + "latch-0000000001": true, dashed + "lock-0000000001": false, dashed + "__READ__0000000001": false,
	} {
		if _, got := latch.Parse(name); got != want {
			t.Errorf("%s in the queue of a latch: got %v, want %v", name, got, want)
		}
	}
}

func TestTheLongestMarkerTellsWhatANodeIs(t *testing.T) {
	for extra, want := range map[string]bool{"_READ__": true, "own__READ__": false} {
		name := "own__READ__0000000001"
		if n, ok := newMarkers(LockMarkers(extra)).Parse(name); !ok || n.Shared != want {
			t.Errorf("%s with the extra marker %s: got %+v, %v, want shared %v", name, extra, n, ok, want)
		}
	}
}
