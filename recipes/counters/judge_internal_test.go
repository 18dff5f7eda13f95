package counters

import (
	"bytes"
	"fmt"
	"testing"
)

// The number was 5 at version 7 of the node that was made at zxid 3, and the lost write is 6.
func TestJudgeTakesOneOtherWriteAloneForProof(t *testing.T) {
	seen, five, six := node{3, 7, encode[int64](5)}, encode[int64](5), encode[int64](6)
	none := node{version: missing}
	for name, test := range map[string]struct {
		seen, now node
		want      outcome
	}{
		"one write, another number":           {seen, node{3, 8, encode[int64](20)}, passed},
		"one write, the number of before":     {seen, node{3, 8, five}, passed},
		"one write, empty data":               {seen, node{3, 8, nil}, passed},
		"one write, the same number":          {seen, node{3, 8, six}, undecided},
		"two writes, another number":          {seen, node{3, 9, encode[int64](20)}, undecided},
		"two writes, the same number":         {seen, node{3, 9, six}, undecided},
		"another node of the next version":    {seen, node{90, 8, five}, undecided},
		"another node of the same version":    {seen, node{90, 7, five}, undecided},
		"another node, ours by the looks":     {seen, node{90, 8, six}, undecided},
		"no node":                             {seen, none, undecided},
		"no write: a server that is behind":   {seen, seen, undecided},
		"the version wraps, another number":   {node{3, 1<<31 - 1, five}, node{3, -1 << 31, five}, passed},
		"version -1 is a version of a node":   {node{3, -1, five}, node{3, 0, five}, passed},
		"version -1 is passed over since 3.9": {node{3, -2, five}, node{3, 0, five}, undecided},
		"made by another":                     {none, node{90, 0, five}, passed},
		"made with the same number":           {none, node{90, 0, six}, undecided},
		"made and written to":                 {none, node{90, 1, five}, undecided},
		"made and deleted":                    {none, none, undecided},
	} {
		if got := judge(test.seen, test.now, six); got != test.want {
			t.Errorf("%s: got %d, want %d", name, got, test.want)
		}
	}
}

// An event is what can happen to the node between the first try and the look at it.
type event struct {
	name string
	do   func(w *world)
}

// A world is a node under events, and what became of the write.
type world struct {
	seen, now node
	data      []byte
	executed  bool // the write
	stands    bool // in the node that is there
	zxid      int64
}

func (w *world) set(data []byte) {
	if !w.now.missing() {
		w.now.version, w.now.data = w.now.version+1, data
	}
}

func (w *world) make(data []byte) {
	if w.now.missing() {
		w.zxid++
		w.now, w.stands = node{czxid: w.zxid, data: data}, false
	}
}

// try is the write itself, or the making of the node, on its condition. A server compares the version alone.
func (w *world) try() {
	was := w.now
	switch {
	case w.seen.missing():
		w.make(w.data)
	case w.now.version == w.seen.version:
		w.set(w.data)
	}
	if w.now.czxid != was.czxid || w.now.version != was.version {
		w.executed, w.stands = true, true
	}
}

// A trace is a kind of node that histories leave, and whether the write was executed in them.
type trace struct {
	now     node
	yes, no []string // histories
	length  int      // the shortest has so many events
}

// traces are by what a reader can see of the node.
type traces map[string]*trace

func (all traces) note(w world, history string, length int) {
	key := fmt.Sprintf("same node %t, version %d, data %x", w.now.czxid == w.seen.czxid, w.now.version, w.now.data)
	left := all[key]
	if left == nil {
		left = &trace{now: w.now, length: length}
		all[key] = left
	}
	left.length = min(left.length, length)
	counted := w.executed
	if w.seen.missing() {
		counted = w.stands
	}
	if counted {
		left.yes = append(left.yes, history)
	} else {
		left.no = append(left.no, history)
	}
}

// histories plays all sequences of so many events, and sorts them by what they leave.
func histories(seen node, data []byte, most int) traces {
	other, before := encode[int64](20), encode[int64](5)
	events := []event{
		{"try", (*world).try},
		{"set 20", func(w *world) { w.set(other) }},
		{"set 6", func(w *world) { w.set(data) }},
		{"set 5", func(w *world) { w.set(before) }},
		{"make 20", func(w *world) { w.make(other) }},
		{"make 6", func(w *world) { w.make(data) }},
		{"delete", func(w *world) { w.now, w.stands = node{version: missing}, false }},
	}
	left := traces{}
	var play func(w world, history string, length int)
	play = func(w world, history string, length int) {
		again := w
		again.executed = false
		if again.try(); !again.executed { // the second try is refused, as judge demands
			left.note(w, history, length)
		}
		if length == most {
			return
		}
		for _, e := range events {
			next := w
			if e.do(&next); next.now.czxid != w.now.czxid || next.now.version != w.now.version {
				play(next, history+"; "+e.name, length+1)
			}
		}
	}
	play(world{seen: seen, now: seen, data: data, zxid: seen.czxid}, "", 0)
	return left
}

// All histories of up to five events: judge must be certain if all that leave the same agree, and must not be if two
// do not. Late executions on a new node of the same version are left out, as the page says.
func TestJudgeSaysWhatAllHistoriesAgreeOn(t *testing.T) {
	data := encode[int64](6)
	for name, seen := range map[string]node{"write": {3, 7, encode[int64](5)}, "creation": {version: missing}} {
		certain, checked := 0, 0
		for key, left := range histories(seen, data, 5) {
			if left.length == 5 {
				continue // with the write before them, they would be too long
			}
			checked++
			want := undecided
			switch {
			case len(left.yes) == 0:
				want = passed
				certain++
			case len(left.no) == 0:
				t.Errorf("%s leaves %s only if it was executed: want judge to know, by %q", name, key, left.yes)
			}
			if got := judge(seen, left.now, data); got != want {
				t.Errorf("%s leaves %s: got %d, want %d: executed by %q, not by %q", name, key, got, want, left.yes, left.no)
			}
		}
		if checked < 8 || certain == 0 {
			t.Errorf("%s: got %d nodes, %d of them certain, want more", name, checked, certain)
		}
	}
}

func FuzzDecode(f *testing.F) {
	for _, seed := range []string{"", "1234", "12345678", "123", "\xff\xff\xff\xff", "\x80\x00\x00\x00\x00\x00\x00\x00"} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		long, isLong := decode[int64](data)
		if want := len(data) == 0 || len(data) == 8; isLong != want {
			t.Errorf("%x as a long: got %v, want %v", data, isLong, want)
		}
		if isLong && len(data) > 0 && !bytes.Equal(encode(long), data) {
			t.Errorf("%x is %d, which is %x", data, long, encode(long))
		}
		integer, isInteger := decode[int32](data)
		if want := len(data) == 0 || len(data) == 4; isInteger != want {
			t.Errorf("%x as an integer: got %v, want %v", data, isInteger, want)
		}
		if isInteger && len(data) > 0 && !bytes.Equal(encode(integer), data) {
			t.Errorf("%x is %d, which is %x", data, integer, encode(integer))
		}
	})
}
