package cache

import (
	"fmt"
	"iter"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
)

// A model is what a tree must hold.
type model map[string]*Node

func (m model) paths(keep func(path string) bool) []string {
	paths := slices.DeleteFunc(slices.Collect(maps.Keys(m)), func(path string) bool { return !keep(path) })
	slices.Sort(paths)
	return paths
}

func isBelow(path, parent string) bool {
	return path != parent && strings.HasPrefix(path, strings.TrimSuffix(parent, "/")+"/")
}

func isChild(path, parent string) bool {
	return isBelow(path, parent) && !strings.Contains(path[len(strings.TrimSuffix(parent, "/"))+1:], "/")
}

func (m model) remove(path string) {
	maps.DeleteFunc(m, func(p string, _ *Node) bool { return p == path || isBelow(p, path) })
}

// A version is a tree with its model.
type version struct {
	tree
	model
}

// check compares what the functions of the tree return with the model, for these paths.
func (v version) check(t *testing.T, paths []string) {
	t.Helper()
	var bytes int64
	for _, n := range v.model {
		bytes += int64(len(n.Path) + len(n.Data))
	}
	if v.len() != len(v.model) || v.bytes() != bytes {
		t.Errorf("got %d nodes and %d bytes, want %d and %d", v.len(), v.bytes(), len(v.model), bytes)
	}
	v.equal(t, "all", v.all, v.paths(func(string) bool { return true }))
	for _, path := range paths {
		got, ok := v.get(path)
		if want, has := v.model[path]; got != want || ok != has {
			t.Errorf("get of %q: got %v, %t, want %v, %t", path, got, ok, want, has)
		}
		v.equal(t, "below "+path, v.below(path), v.paths(func(p string) bool { return isBelow(p, path) }))
		v.equal(t, "children of "+path, v.children(path), v.paths(func(p string) bool { return isChild(p, path) }))
		behind := v.paths(func(p string) bool { return p > path })
		next, ok := v.after(path)
		if ok != (len(behind) > 0) || ok && next != v.model[behind[0]] || !ok && next != nil {
			t.Errorf("after %q: got %v, %t, want the first of %q", path, next, ok, behind)
		}
	}
	checkBranches(t, v.root, "", end)
}

// equal checks that got yields the model's nodes at the paths want, also if it is stopped early.
func (v version) equal(t *testing.T, name string, got iter.Seq[*Node], want []string) {
	t.Helper()
	same := func(n *Node, path string) bool { return n == v.model[path] }
	for _, limit := range limits(want) {
		var nodes []*Node
		for n := range got {
			nodes = append(nodes, n)
			if len(nodes) == limit {
				break
			}
		}
		if !slices.EqualFunc(nodes, want[:min(limit, len(want))], same) {
			t.Errorf("%s, stopped after %d: got %q, want %q", name, limit, show(nodes), want)
		}
	}
}

// limits are after how many of want a test stops: soon, late and not at all.
func limits(want []string) []int {
	return slices.Compact([]int{1, len(want)/2 + 1, len(want) + 1})
}

func show(nodes []*Node) []string {
	var paths []string
	for _, n := range nodes {
		paths = append(paths, n.Path)
	}
	return paths
}

// checkBranches checks that b is a search tree by path and a heap by priority.
func checkBranches(t *testing.T, b *branch, from, to string) {
	t.Helper()
	if b == nil {
		return
	}
	path := b.node.Path
	if path <= from || path >= to {
		t.Errorf("a branch between %q and %q: got %q", from, to, path)
	}
	for _, child := range []*branch{b.left, b.right} {
		if child != nil && child.outranks(b) {
			t.Errorf("got %q with priority %d below %q with %d", child.node.Path, child.priority, path, b.priority)
		}
	}
	checkBranches(t, b.left, from, path)
	checkBranches(t, b.right, path, to)
}

// checkDifferences checks differences in both orders, also if they are stopped early.
func checkDifferences(t *testing.T, before, after version) {
	t.Helper()
	both := maps.Clone(before.model)
	maps.Copy(both, after.model)
	want := both.paths(func(path string) bool { return before.model[path] != after.model[path] })
	for _, backwards := range []bool{false, true} {
		for _, limit := range limits(want) {
			var got []string
			whole := differences(before.tree, after.tree, backwards, func(was, is *Node) bool {
				path := pathOf(was, is)
				if was != before.model[path] || is != after.model[path] {
					t.Errorf("at %q: got %v and %v, want %v and %v", path, was, is, before.model[path], after.model[path])
				}
				got = append(got, path)
				return len(got) != limit
			})
			if some := want[:min(limit, len(want))]; !slices.Equal(got, some) || whole != (limit > len(want)) {
				t.Errorf("differences, backwards %t, stopped after %d: got %q, %t, want %q", backwards, limit, got, whole, some)
			}
		}
		slices.Reverse(want)
	}
}

func pathOf(was, is *Node) string {
	if was == nil {
		return is.Path
	}
	return was.Path
}

// somePaths are paths whose byte order is not that of their names, down to the third level.
func somePaths() []string {
	names := []string{"a", "a-x", "a0", "a.b", "b", "\x7f", "0", "é"}
	paths := []string{"/"}
	for _, parent := range []string{"", "/a", "/a-x", "/a0", "/b", "/a/a", "/a/a-x", "/gone"} {
		for _, name := range names {
			paths = append(paths, parent+"/"+name)
		}
	}
	return append(paths, "/gone")
}

// play makes the changes that script says, two bytes for each, and returns all versions.
func play(script []byte, paths []string) []version {
	versions := []version{{model: model{}}}
	for ; len(script) >= 2; script = script[2:] {
		path := paths[int(script[1])%len(paths)]
		last := versions[len(versions)-1]
		next := version{tree: last.tree, model: maps.Clone(last.model)}
		switch script[0] % 8 {
		case 0:
			next.tree = next.without(path)
			next.remove(path)
		case 1: // what is there already
			if n, ok := next.get(path); ok {
				next.tree = next.with(n)
			}
		default:
			n := &Node{Path: path, Data: make([]byte, script[0])}
			next.tree, next.model[path] = next.with(n), n
		}
		versions = append(versions, next)
	}
	return versions
}

func FuzzVersions(f *testing.F) {
	f.Add([]byte{})
	f.Add([]byte{2, 0, 3, 1, 4, 9, 5, 2, 0, 1, 1, 0, 1, 1, 0, 0})
	f.Add([]byte{2, 0, 2, 1, 2, 2, 2, 9, 2, 10, 2, 17, 2, 49, 0, 0})
	f.Add([]byte{2, 9, 2, 10, 0, 1, 2, 57, 2, 58, 0, 65, 0, 65})
	for seed := range uint64(8) {
		r := rand.New(rand.NewPCG(seed, seed))
		script := make([]byte, 160)
		for i := range script {
			script[i] = byte(r.Uint32())
		}
		f.Add(script)
	}
	paths := somePaths()
	f.Fuzz(func(t *testing.T, script []byte) {
		versions := play(script[:min(len(script), 160)], paths)
		for i, v := range versions { // also the earlier versions, after all changes
			v.check(t, paths)
			checkDifferences(t, versions[max(i-1, 0)], v)
			checkDifferences(t, v, versions[(i*7)%len(versions)])
			if t.Failed() {
				t.Fatalf("version %d of %d is wrong", i, len(versions)-1)
			}
		}
	})
}

func TestVersionsWithEqualPrioritiesHaveTheShapeOfTheirPaths(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	paths := somePaths()
	coarse := func(order []int) version {
		v := version{model: model{}}
		for _, i := range order {
			n := &Node{Path: paths[i]}
			v.root = v.put(v.root, &branch{node: n, priority: uint64(i % 3)})
			v.model[n.Path] = n
		}
		return v
	}
	for range 50 {
		order := r.Perm(len(paths))
		some, all := coarse(order[:r.IntN(len(paths))]), coarse(order)
		all.check(t, paths)
		checkDifferences(t, some, all)
		checkDifferences(t, all, some)
		if got, want := shape(all.root), shape(coarse(r.Perm(len(paths))).root); got != want {
			t.Fatalf("the same paths in another order: got %s, want %s", got, want)
		}
	}
}

func TestShapeDoesNotDependOnTheHistory(t *testing.T) {
	paths := somePaths()
	r := rand.New(rand.NewPCG(3, 4))
	for range 50 {
		var direct, detour tree
		for _, i := range r.Perm(len(paths)) {
			detour = detour.with(&Node{Path: paths[i]})
		}
		detour = detour.without("/a").without("/gone/b")
		for _, path := range paths {
			if path != "/a" && !isBelow(path, "/a") && path != "/gone/b" {
				direct = direct.with(&Node{Path: path})
			}
		}
		if got, want := shape(detour.root), shape(direct.root); got != want {
			t.Fatalf("after other changes: got %s, want %s", got, want)
		}
	}
}

func shape(b *branch) string {
	if b == nil {
		return "-"
	}
	return fmt.Sprintf("(%s %s %s)", shape(b.left), b.node.Path, shape(b.right))
}

func TestChangesThatChangeNothingReturnTheSameTree(t *testing.T) {
	v := large(1000)
	leaf := memberPath(500)
	n, _ := v.get(leaf)
	for name, got := range map[string]tree{
		"with a node that is there":    v.with(n),
		"without a child of a leaf":    v.without(leaf + "/gone"),
		"without a path behind a leaf": v.without(leaf + "-gone"),
		"without a path behind all":    v.without("/zzz"),
		"without a path before all":    v.without("/!"),
	} {
		if got != v {
			t.Errorf("%s: got a changed tree of %d nodes, want the same of %d", name, got.len(), v.len())
		}
	}
}
