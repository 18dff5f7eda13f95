package cache

import (
	"fmt"
	"math/bits"
	"runtime"
	"slices"
	"strings"
	"testing"
)

const many = 100_000

// memberPath returns the path of the node i of large.
func memberPath(i int) string {
	if i < 100 {
		return fmt.Sprintf("/service-%02d", i)
	}
	return fmt.Sprintf("/service-%02d/member-%010d", i%100, i)
}

// large returns a tree of 100 directories and their members, n nodes in all.
func large(n int) tree {
	var t tree
	for i := range n {
		t = t.with(&Node{Path: memberPath(i)})
	}
	return t
}

func depth(b *branch) int {
	if b == nil {
		return 0
	}
	return 1 + max(depth(b.left), depth(b.right))
}

func TestPathsInOrderMakeATreeOfLogarithmicDepth(t *testing.T) {
	for _, n := range []int{1000, many} { // usually 22 and 40
		if got, most := depth(large(n).root), 5*bits.Len(uint(n)); got > most {
			t.Fatalf("%d nodes: got a depth of %d, want at most %d", n, got, most)
		}
	}
}

// A sketch copies of trees what searches for a few paths may visit, which are the branches that searches for them and
// for their neighbors meet, and the children of these. What is below has a stand-in without a node, which panics when
// it is read. What trees share, their copies share.
type sketch struct {
	paths  []string // sorted
	copies map[*branch]*branch
	read   int // the branches that may be read
}

func newSketch(paths ...string) *sketch {
	slices.Sort(paths)
	return &sketch{paths: paths, copies: make(map[*branch]*branch)}
}

func (s *sketch) of(t tree) tree {
	t.root = s.copy(t.root, s.paths)
	return t
}

func (s *sketch) copy(b *branch, paths []string) *branch {
	if b == nil {
		return nil
	}
	if c := s.copies[b]; c != nil {
		return c
	}
	c := &branch{node: b.node, priority: b.priority}
	s.copies[b] = c
	s.read++
	if len(paths) == 0 { // the child of a branch that is met
		c.left, c.right = unread(b.left), unread(b.right)
		return c
	}
	i, found := slices.BinarySearch(paths, b.node.Path)
	behind := i
	if found {
		i++ // its neighbors are on both sides
	}
	c.left, c.right = s.copy(b.left, paths[:i]), s.copy(b.right, paths[behind:])
	return c
}

func unread(b *branch) *branch {
	if b == nil {
		return nil
	}
	return &branch{}
}

// visit fails the test if f reads what the sketch left out.
func (s *sketch) visit(t *testing.T, name string, f func()) {
	t.Helper()
	defer func() {
		if err := recover(); err != nil {
			t.Errorf("%s: got a visit outside of the %d branches near %d paths (%v), want none", name, s.read, len(s.paths), err)
		}
	}()
	f()
}

func TestDifferencesOfLargeTreesVisitOnlyWhatIsNearTheChange(t *testing.T) {
	before := large(many)
	leaf, missing := memberPath(54_321), memberPath(54_321)+"-x"
	for name, after := range map[string]tree{
		"a node changed":   before.with(&Node{Path: leaf}),
		"a node deleted":   before.without(leaf),
		"a node created":   before.with(&Node{Path: missing}),
		"no node":          before,
		"created, deleted": before.with(&Node{Path: missing}).without(missing),
	} {
		want := 1
		if strings.Contains(name, ",") || after == before {
			want = 0
		}
		s := newSketch(leaf, missing)
		a, b := s.of(before), s.of(after)
		if s.read > 500 {
			t.Fatalf("%s: got %d branches near two paths of %d, want at most 500", name, s.read, many)
		}
		for _, backwards := range []bool{false, true} {
			s.visit(t, name, func() {
				got := 0
				differences(a, b, backwards, func(_, _ *Node) bool { got++; return true })
				differences(b, a, backwards, func(_, _ *Node) bool { got++; return true })
				if got != 2*want {
					t.Errorf("%s: got %d differences there and back, want %d", name, got, 2*want)
				}
			})
		}
	}
}

func TestChildrenOfALargeTreeSkipWhatIsBelowThem(t *testing.T) {
	v := large(many)
	var near, want []string
	for i := range 100 {
		from, to := descendants(memberPath(i))
		near, want = append(near, memberPath(i), from, to), append(want, memberPath(i))
	}
	s := newSketch(near...)
	little := s.of(v)
	if s.read > many/10 {
		t.Fatalf("got %d branches near the children, want at most a tenth of %d", s.read, many)
	}
	s.visit(t, "children", func() {
		var nodes []*Node
		for n := range little.children("/") {
			nodes = append(nodes, n)
		}
		if got := show(nodes); !slices.Equal(got, want) {
			t.Errorf("children: got %d, %q, want %d", len(got), got, len(want))
		}
	})
}

func TestLookingUpAllocatesNothing(t *testing.T) {
	v := large(1000)
	path, missing := memberPath(500), memberPath(500)+"/gone"
	got := testing.AllocsPerRun(100, func() {
		v.get(path)
		v.get(missing)
	})
	if got != 0 {
		t.Errorf("get, and get of a missing node: got %v allocations, want 0", got)
	}
}

func TestChildrenAllocateOnceForEachThatIsAParent(t *testing.T) {
	v := large(10_000)
	got := testing.AllocsPerRun(100, func() {
		for range v.children("/") {
			continue
		}
	})
	if got > 110 {
		t.Errorf("100 children with children: got %v allocations, want at most 110", got)
	}
}

func TestANodeTakesTwoSmallObjectsBesideItsContent(t *testing.T) {
	paths := make([]string, many)
	for i := range paths {
		paths[i] = memberPath(i)
	}
	var v tree
	before := heap()
	for _, path := range paths {
		v = v.with(&Node{Path: path})
	}
	got := float64(heap()-before) / many
	t.Logf("%.1f bytes for each node beside path, data and Stat", got)
	if got > 90 {
		t.Errorf("got %.1f bytes for each node beside path, data and Stat, want 80: a Node of 48 and a branch of 32", got)
	}
	runtime.KeepAlive(v)
	runtime.KeepAlive(paths)
}

// heap returns how many bytes are in use.
func heap() uint64 {
	runtime.GC()
	runtime.GC()
	var stats runtime.MemStats
	runtime.ReadMemStats(&stats)
	return stats.HeapAlloc
}

func BenchmarkVersion(b *testing.B) {
	v := large(many)
	paths := make([]string, 1000)
	for i := range paths {
		paths[i] = memberPath(i * 97 % many)
	}
	nodes := make([]*Node, len(paths))
	changed, fewer := make([]tree, len(paths)), make([]tree, len(paths))
	for i, path := range paths {
		nodes[i] = &Node{Path: path}
		changed[i], fewer[i] = v.with(nodes[i]), v.without(path)
	}
	for name, f := range map[string]func(i int){
		"get":     func(i int) { v.get(paths[i]) },
		"with":    func(i int) { v.with(nodes[i]) },
		"without": func(i int) { v.without(paths[i]) },
		"after":   func(i int) { v.after(paths[i]) },
		"changed": func(i int) { differences(v, changed[i], false, func(_, _ *Node) bool { return true }) },
		"deleted": func(i int) { differences(v, fewer[i], false, func(_, _ *Node) bool { return true }) },
		"children": func(int) {
			for range v.children("/") {
				continue
			}
		},
		"all": func(int) {
			for range v.all {
				continue
			}
		},
	} {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for i := 0; b.Loop(); i++ {
				f(i % len(paths))
			}
		})
	}
}
