package main

import (
	"encoding/binary"
	"fmt"
	"slices"
	"testing"
)

func frame(body ...byte) []byte {
	return append(binary.BigEndian.AppendUint32(nil, uint32(len(body))), body...)
}

// TestFramesAreFoundInPiecesOfAnyLength cuts a stream everywhere.
func TestFramesAreFoundInPiecesOfAnyLength(t *testing.T) {
	stream := slices.Concat(frame(), frame(1), frame(1, 2, 3, 4, 5, 6, 7, 8), frame(9, 8, 7, 6, 5, 4, 3, 2, 1, 0), frame(5, 5))
	want := "[[] [1] [1 2 3 4 5 6 7 8] [9 8 7 6 5 4 3 2] [5 5]]"
	for size := 1; size <= len(stream); size++ {
		var f frames
		got := [][]byte{}
		for piece := range slices.Chunk(stream, size) {
			f.feed(piece, func(head []byte) { got = append(got, slices.Clone(head)) })
		}
		if fmt.Sprint(got) != want {
			t.Errorf("pieces of %d bytes: got %v, want %s", size, got, want)
		}
	}
}

func TestTallyTellsFramesApart(t *testing.T) {
	var c tally
	w := &wire{tally: &c}
	number := func(n, kind uint32) []byte {
		return binary.BigEndian.AppendUint32(binary.BigEndian.AppendUint32(nil, n), kind)
	}
	for _, head := range [][]byte{number(0, 11), number(1<<32-2, 11), number(1, 11), number(1, 14), number(2, 1)} {
		w.asked(head)
	}
	for _, head := range [][]byte{number(0, 0), number(1<<32-1, 0), number(1<<32-2, 0)} {
		w.answered(head)
	}
	got := c.now()
	if want := (count{handshakes: 1, pings: 2, requests: 2, events: 1}); got != want {
		t.Errorf("got %+v, want %+v", got, want)
	}
}
