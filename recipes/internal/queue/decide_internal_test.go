package queue

import (
	"fmt"
	"math"
	"slices"
	"testing"
)

// line makes nodes of short names: "r3" is a reader with the number 3, "w-4" a writer.
func lineOf(names ...string) []Node {
	var line []Node
	for _, name := range names {
		n := Node{Name: name, Shared: name[0] == 'r'}
		_, _ = fmt.Sscan(name[1:], &n.number)
		line = append(line, n)
	}
	return line
}

func TestRules(t *testing.T) {
	const last, beyond = "w2147483647", "w-2147483648" // beyond the end of the counter: before everybody
	for _, test := range []struct {
		others []Node
		me     string
		want   Decision
	}{
		{nil, "w1", Decision{Admitted: true}},
		{lineOf("w1"), "w1", Decision{Admitted: true}},
		{lineOf("w2", "w3", "r9"), "w1", Decision{Admitted: true}},
		{lineOf("w1", "w2"), "w2", Decision{Predecessor: "w1", Ahead: 1}},
		{lineOf("w1", "r2", "w3"), "w3", Decision{Predecessor: "r2", NextAhead: "w1", Ahead: 2, readers: true}},
		{lineOf("w3", "w1", "w2", "w4"), "w4", Decision{Predecessor: "w3", NextAhead: "w2", First: "w1", Ahead: 3}},
		{lineOf("w3", "w2", "w1", "w4"), "w4", Decision{Predecessor: "w3", NextAhead: "w2", First: "w1", Ahead: 3}},
		{lineOf("w1", "w2", "w3", "w4"), "w4", Decision{Predecessor: "w3", NextAhead: "w2", First: "w1", Ahead: 3}},
		{lineOf("w2", "w1", "w3", "w4"), "w4", Decision{Predecessor: "w3", NextAhead: "w2", First: "w1", Ahead: 3}},
		{lineOf("w0", "w1", "w2", "w3", "w4"), "w4", Decision{Predecessor: "w3", NextAhead: "w2", Ahead: 4}},
		{lineOf("w1", "w2", "w3", "r4"), "r4", Decision{Predecessor: "w3", Ahead: 3}},
		{lineOf("w7", "w1", "w4"), "w5", Decision{Predecessor: "w4", NextAhead: "w1", Ahead: 2}},
		{lineOf("w1", "w0"), "w2", Decision{Predecessor: "w1", NextAhead: "w0", Ahead: 2}},
		{lineOf("w7", beyond), "w7", Decision{Predecessor: beyond, Ahead: 1}},
		{lineOf("w7", last, beyond, "w-2147483647"), "w7", Decision{Predecessor: "w-2147483647", NextAhead: beyond, Ahead: 2}},
		{lineOf("w7", last), "w7", Decision{Admitted: true}},
		{nil, "r1", Decision{Admitted: true}},
		{lineOf("r1", "r2", "r3"), "r3", Decision{Admitted: true}},
		{lineOf("w1", "r2"), "r2", Decision{Predecessor: "w1", Ahead: 1}},
		{lineOf("w1", "w2", "r3", "r4", "w9"), "r4", Decision{Predecessor: "w2", Ahead: 2}},
		{lineOf("w2", "r1"), "r1", Decision{Admitted: true}},
		{lineOf("r7", beyond), "r7", Decision{Predecessor: beyond, Ahead: 1}},
		{lineOf("r7", "r-2147483648"), "r7", Decision{Admitted: true}},
	} {
		if got := Decide(test.others, lineOf(test.me)[0]); got != test.want {
			t.Errorf("%s among %v: %+v, want %+v", test.me, test.others, got, test.want)
		}
	}
}

// Whatever stands in the line: one is admitted or only readers are; each
// other waits for the nearest that stands in its way, and so on to one who is admitted.
func FuzzRules(f *testing.F) {
	f.Add(int32(0), []byte{1, 2, 3})
	f.Add(int32(math.MaxInt32-1), []byte{0x81, 2, 0x83, 4, 5})
	f.Add(int32(-3), []byte{0x81, 0x82, 3, 0x84})
	f.Fuzz(func(t *testing.T, base int32, others []byte) {
		line := makeLine(base, others)
		byName := map[string]Node{}
		for _, n := range line {
			byName[n.Name] = n
		}
		var admitted []Node
		for _, me := range line {
			turn := Decide(line, me)
			switch {
			case turn.Admitted:
				admitted = append(admitted, me)
			default:
				checkNeighbour(t, line, me, byName[turn.Predecessor], turn)
				checkFurther(t, line, me, byName[turn.Predecessor], turn)
			}
			exclusive := me
			exclusive.Shared = false
			if lone := Decide(line, exclusive); lone.Admitted != (firstOf(line) == me) {
				t.Errorf("among %v %s is admitted alone: %v", line, me.Name, lone.Admitted)
			}
		}
		if len(line) > 0 && len(admitted) == 0 {
			t.Errorf("among %v none is admitted", line)
		}
		for _, n := range admitted {
			if !n.Shared && len(admitted) > 1 {
				t.Errorf("among %v the writer %s is admitted beside others: %v", line, n.Name, admitted)
			}
		}
	})
}

// makeLine makes nodes with different numbers a little after base; the highest bit of a byte makes a reader.
func makeLine(base int32, bytes []byte) []Node {
	var line []Node
	seen := map[int32]bool{}
	for _, b := range bytes {
		number := base + int32(b&0x7f)
		if seen[number] {
			continue
		}
		seen[number] = true
		line = append(line, Node{Name: fmt.Sprint(number), number: number, Shared: b&0x80 != 0})
	}
	return line
}

func firstOf(line []Node) Node {
	first := line[0]
	for _, n := range line {
		if n.Before(first) {
			first = n
		}
	}
	return first
}

func checkNeighbour(t *testing.T, line []Node, me, ahead Node, turn Decision) {
	t.Helper()
	blocks := func(n Node) bool { return n.Before(me) && (!me.Shared || !n.Shared) }
	if ahead.Name == "" || !blocks(ahead) {
		t.Errorf("among %v %s waits for %+v", line, me.Name, ahead)
	}
	behind := 0
	for _, n := range line {
		if !blocks(n) {
			continue
		}
		behind++
		if ahead.Before(n) {
			t.Errorf("among %v %s waits for %s, but %s is nearer", line, me.Name, ahead.Name, n.Name)
		}
	}
	if behind != turn.Ahead {
		t.Errorf("among %v got %s with %d ahead, want %d", line, me.Name, turn.Ahead, behind)
	}
}

// Without the nearest, the next nearest is the nearest.
func checkFurther(t *testing.T, line []Node, me, ahead Node, turn Decision) {
	t.Helper()
	rest := slices.DeleteFunc(slices.Clone(line), func(n Node) bool { return n == ahead })
	want := ""
	if !me.Shared {
		want = Decide(rest, me).Predecessor
	}
	if turn.NextAhead != want {
		t.Errorf("among %v %s has %q before %s, want %q", line, me.Name, turn.NextAhead, ahead.Name, want)
	}
	rest, first := slices.DeleteFunc(rest, func(n Node) bool { return n.Name == want }), ""
	if !me.Shared && turn.Ahead == 3 {
		first = Decide(rest, me).Predecessor
	}
	if turn.First != first {
		t.Errorf("among %v %s has %q as the third ahead, want %q", line, me.Name, turn.First, first)
	}
}
