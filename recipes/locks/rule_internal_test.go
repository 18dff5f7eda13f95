package locks

import (
	"fmt"
	"math"
	"slices"
	"testing"
)

// line makes nodes of short names: "r3" is a reader with the number 3, "w-4" a writer.
func lineOf(names ...string) []node {
	var line []node
	for _, name := range names {
		n := node{name: name, shared: name[0] == 'r'}
		_, _ = fmt.Sscan(name[1:], &n.number)
		line = append(line, n)
	}
	return line
}

func TestRules(t *testing.T) {
	const last, first = "w2147483647", "w-2147483648" // first comes right after last: the counter wraps
	for _, test := range []struct {
		others []node
		me     string
		want   turn
	}{
		{nil, "w1", turn{admitted: true}},
		{lineOf("w1"), "w1", turn{admitted: true}},
		{lineOf("w2", "w3", "r9"), "w1", turn{admitted: true}},
		{lineOf("w1", "w2"), "w2", turn{ahead: "w1", behind: 1}},
		{lineOf("w1", "r2", "w3"), "w3", turn{ahead: "r2", further: "w1", behind: 2}},
		{lineOf("w3", "w1", "w2", "w4"), "w4", turn{ahead: "w3", further: "w2", behind: 3}},
		{lineOf("w7", "w1", "w4"), "w5", turn{ahead: "w4", further: "w1", behind: 2}},
		{lineOf(last, first), first, turn{ahead: last, behind: 1}},
		{lineOf(last, first), last, turn{admitted: true}},
		{lineOf("w2147483646", last, first, "w-2147483647"), "w-2147483647", turn{ahead: first, further: last, behind: 3}},
		{nil, "r1", turn{admitted: true}},
		{lineOf("r1", "r2", "r3"), "r3", turn{admitted: true}},
		{lineOf("w1", "r2"), "r2", turn{ahead: "w1", behind: 1}},
		{lineOf("w1", "w2", "r3", "r4", "w9"), "r4", turn{ahead: "w2", behind: 2}},
		{lineOf("w2", "r1"), "r1", turn{admitted: true}},
		{lineOf(last, "r-2147483648"), "r-2147483648", turn{ahead: last, behind: 1}},
	} {
		if got := turnOf(test.others, lineOf(test.me)[0]); got != test.want {
			t.Errorf("%s among %v: %+v, want %+v", test.me, test.others, got, test.want)
		}
	}
}

// Whatever stands in the line, with numbers in a window of less than half of all: one is admitted or only readers are; each
// other waits for the nearest that stands in its way, and so on to one who is admitted.
func FuzzRules(f *testing.F) {
	f.Add(int32(0), []byte{1, 2, 3})
	f.Add(int32(math.MaxInt32-1), []byte{0x81, 2, 0x83, 4, 5})
	f.Add(int32(-3), []byte{0x81, 0x82, 3, 0x84})
	f.Fuzz(func(t *testing.T, base int32, others []byte) {
		line := makeLine(base, others)
		byName := map[string]node{}
		for _, n := range line {
			byName[n.name] = n
		}
		var admitted []node
		for _, me := range line {
			turn := turnOf(line, me)
			switch {
			case turn.admitted:
				admitted = append(admitted, me)
			default:
				checkNeighbour(t, line, me, byName[turn.ahead], turn)
				checkFurther(t, line, me, byName[turn.ahead], turn)
			}
			if lone := exclusiveTurn(line, me); lone.admitted != (firstOf(line) == me) {
				t.Errorf("among %v %s is admitted alone: %v", line, me.name, lone.admitted)
			}
		}
		if len(line) > 0 && len(admitted) == 0 {
			t.Errorf("among %v nobody is admitted", line)
		}
		for _, n := range admitted {
			if !n.shared && len(admitted) > 1 {
				t.Errorf("among %v the writer %s is admitted beside others: %v", line, n.name, admitted)
			}
		}
	})
}

// makeLine makes nodes with different numbers a little after base; the highest bit of a byte makes a reader.
func makeLine(base int32, bytes []byte) []node {
	var line []node
	seen := map[int32]bool{}
	for _, b := range bytes {
		number := base + int32(b&0x7f)
		if seen[number] {
			continue
		}
		seen[number] = true
		line = append(line, node{name: fmt.Sprint(number), number: number, shared: b&0x80 != 0})
	}
	return line
}

func firstOf(line []node) node {
	first := line[0]
	for _, n := range line {
		if n.before(first) {
			first = n
		}
	}
	return first
}

func checkNeighbour(t *testing.T, line []node, me, ahead node, turn turn) {
	t.Helper()
	blocks := func(n node) bool { return n.before(me) && (!me.shared || !n.shared) }
	if ahead.name == "" || !blocks(ahead) {
		t.Errorf("among %v %s waits for %+v", line, me.name, ahead)
	}
	behind := 0
	for _, n := range line {
		if !blocks(n) {
			continue
		}
		behind++
		if ahead.before(n) {
			t.Errorf("among %v %s waits for %s, but %s is nearer", line, me.name, ahead.name, n.name)
		}
	}
	if behind != turn.behind {
		t.Errorf("among %v %s stands behind %d, it is told %d", line, me.name, behind, turn.behind)
	}
}

// Without the nearest, the next nearest is the nearest.
func checkFurther(t *testing.T, line []node, me, ahead node, turn turn) {
	t.Helper()
	rest := slices.DeleteFunc(slices.Clone(line), func(n node) bool { return n == ahead })
	want := ""
	if !me.shared {
		want = exclusiveTurn(rest, me).ahead
	}
	if turn.further != want {
		t.Errorf("among %v %s has %q before %s, want %q", line, me.name, turn.further, ahead.name, want)
	}
}
