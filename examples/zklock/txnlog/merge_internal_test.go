package txnlog

import (
	"encoding/binary"
	"slices"
	"testing"
)

func TestPassedZxidsAreKnownExceptBetweenTooManyGaps(t *testing.T) {
	var p passed
	for _, zxid := range []int64{3, 4, 4, 7} {
		p.add(zxid)
	}
	for zxid, want := range map[int64]bool{2: false, 3: true, 4: true, 5: false, 6: false, 7: true, 8: false} {
		if got := p.has(zxid); got != want {
			t.Errorf("%d: got %t, want %t", zxid, got, want)
		}
	}
	for zxid := int64(9); len(p) < mostGaps; zxid += 2 {
		p.add(zxid)
	}
	last := p[mostGaps-1].last
	p.add(last + 10)
	if !p.has(last+5) || p.has(last-1) || len(p) != mostGaps {
		t.Errorf("got %t and %t with %d spans, want the last gap for passed, and no other", p.has(last+5), p.has(last-1), len(p))
	}
}

func TestWhatTwoDeposedLeadersHaveProposedIsNotedOfEach(t *testing.T) {
	var got []Note
	x := &executed{servers: []serverFiles{{dir: "d"}}, note: func(n Note) { got = append(got, n) }, rows: map[rowKey]*Note{}}
	for _, zxid := range []int64{1<<32 + 5, 1<<32 + 6, 3<<32 + 1} {
		x.addToRow(&cursor{record: binary.BigEndian.AppendUint64(make([]byte, 12), uint64(zxid))}, Deposed)
	}
	x.noteRows()
	want := []Note{{Kind: Deposed, File: "d", First: 1<<32 + 5, Last: 1<<32 + 6}, {Kind: Deposed, File: "d", First: 3<<32 + 1, Last: 3<<32 + 1}}
	if !slices.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
}
