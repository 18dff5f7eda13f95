package transport

import (
	"fmt"
	"slices"
	"testing"
)

func TestAListingIsTwoAllocations(t *testing.T) {
	var e encoder
	want := make([]string, 100)
	e.int32(int32(len(want)))
	for i := range want {
		if i%10 != 0 {
			want[i] = fmt.Sprintf("lock-%d", i)
			e.string(want[i])
		} else {
			e.int32(-1) // null
		}
	}
	e.int64(42)
	var got []string
	var behind int64
	allocs := testing.AllocsPerRun(100, func() {
		d := decoder{rest: e}
		got, behind = d.strings(), d.int64()
	})
	if !slices.Equal(got, want) || behind != 42 || allocs > 2 {
		t.Errorf("got %q, and %d behind it, in %v allocations", got, behind, allocs)
	}
}

func TestAListingThatIsCutShortIsGarbage(t *testing.T) {
	var e encoder
	e.int32(3)
	for range 3 {
		e.string("some name")
	}
	for n := range e {
		if d := (decoder{rest: e[:n]}); d.strings() != nil && d.err == nil {
			t.Errorf("%d bytes of %d are taken", n, len(e))
		}
	}
}
