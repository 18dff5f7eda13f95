package cache

import (
	"hash/maphash"
	"iter"
	"strings"

	"github.com/go-zookeeper/zk"
)

// A Node is a node at one moment. Data and Stat must not be changed: all readers of the cache share them.
type Node struct {
	Path string
	Data []byte
	Stat *zk.Stat
}

func (n *Node) size() int64 { return int64(len(n.Path) + len(n.Data)) }

// A tree is one version of the cached nodes, in the byte order of their paths, which begin with a slash. So a parent
// precedes its children, and the descendants of "/p" are all that is between "/p/" and "/p0": '0' follows '/'.
//
// A tree is never changed: with and without return another one, which shares most branches with it. The zero value is
// empty. It is a treap: a search tree by path, in which no branch has a higher priority than its parent. A priority is
// a hash of the path, so the shape depends on the set of paths alone, whatever the order of the changes was. Therefore
// versions with few differences have most of their branches in common, and differences skips these. All operations on
// one path take a time that grows with the logarithm of the size, and recurse no deeper.
type tree struct {
	root    *branch
	nodes   int
	content int64 // the sum of the nodes' sizes
}

type branch struct {
	node        *Node
	priority    uint64
	left, right *branch
}

// seed makes the priorities unpredictable: a writer who could choose paths by their priorities would make a tree that
// is a list.
var seed = maphash.MakeSeed()

func (t tree) len() int     { return t.nodes }
func (t tree) bytes() int64 { return t.content }

func (t tree) get(path string) (*Node, bool) {
	for b := t.root; b != nil; {
		switch p := b.node.Path; {
		case path == p:
			return b.node, true
		case path < p:
			b = b.left
		default:
			b = b.right
		}
	}
	return nil, false
}

// with returns the tree with n, in place of the node at its path if there is one.
func (t tree) with(n *Node) tree {
	t.root = t.put(t.root, &branch{node: n, priority: maphash.String(seed, n.Path)})
	return t
}

// put returns b with leaf, whose children it sets.
func (t *tree) put(b, leaf *branch) *branch {
	n := leaf.node
	switch {
	case leaf.outranks(b): // so nothing in b has the path of n
		t.nodes++
		t.content += n.size()
		leaf.left, _, leaf.right = b.split(n.Path)
		return leaf
	case b.node == n:
		return b
	case n.Path == b.node.Path:
		t.content += n.size() - b.node.size()
		leaf.left, leaf.right = b.left, b.right
		return leaf
	case n.Path < b.node.Path:
		return b.over(t.put(b.left, leaf), b.right)
	default:
		return b.over(b.left, t.put(b.right, leaf))
	}
}

// without returns the tree without the node at path and without everything below it, whether or not there is a node at
// path.
func (t tree) without(path string) tree {
	t.root = t.cut(t.root, path, successor(path))
	from, to := descendants(path)
	t.root = t.cut(t.root, from, to)
	return t
}

// cut returns b without the nodes with from <= path < to. It visits every branch that it removes.
func (t *tree) cut(b *branch, from, to string) *branch {
	switch {
	case b == nil:
		return nil
	case b.node.Path < from:
		return b.over(b.left, t.cut(b.right, from, to))
	case b.node.Path >= to:
		return b.over(t.cut(b.left, from, to), b.right)
	}
	t.nodes--
	t.content -= b.node.size()
	return merge(t.cut(b.left, from, to), t.cut(b.right, from, to))
}

// all yields the nodes in order.
func (t tree) all(yield func(*Node) bool) { t.between("", end)(yield) }

// below returns the descendants of path in order.
func (t tree) below(path string) iter.Seq[*Node] { return t.between(descendants(path)) }

// children returns the nodes directly below path in order. What is below a child costs one search, however much it is.
func (t tree) children(path string) iter.Seq[*Node] {
	return func(yield func(*Node) bool) {
		from, to := descendants(path)
		prefix := len(to) // as long as "path/"
		t.root.ascend(&from, to, func(n *Node) bool {
			slash := strings.IndexByte(n.Path[prefix:], '/')
			if slash < 0 {
				return yield(n)
			}
			from = n.Path[:prefix+slash] + end
			return true
		})
	}
}

// after returns the first node behind path, and false if path is the last.
func (t tree) after(path string) (*Node, bool) {
	for n := range t.between(successor(path), end) {
		return n, true
	}
	return nil, false
}

// between returns the nodes with from <= path < to in order.
func (t tree) between(from, to string) iter.Seq[*Node] {
	return func(yield func(*Node) bool) {
		lower := from
		t.root.ascend(&lower, to, yield)
	}
}

// differences yields each path at which the trees have different nodes, or at which only one has a node: the other is
// nil then. Nodes differ if they are not the same pointer. The order is that of the paths, or the reverse: parents come
// first, or children do. It reports whether yield always returned true, and stops if not. The time grows with the
// number of changes between the versions, times the logarithm of their size.
func differences(old, current tree, backwards bool, yield func(before, after *Node) bool) bool {
	return compare(old.root, current.root, backwards, yield)
}

func compare(old, current *branch, backwards bool, yield func(before, after *Node) bool) bool {
	if old == current {
		return true
	}
	root := old // any path would do; to take the root with the higher priority measured the same
	if root == nil {
		root = current
	}
	oldLeft, before, oldRight := old.split(root.node.Path)
	left, after, right := current.split(root.node.Path)
	if backwards {
		oldLeft, oldRight, left, right = oldRight, oldLeft, right, left
	}
	return compare(oldLeft, left, backwards, yield) &&
		(before == after || yield(before, after)) &&
		compare(oldRight, right, backwards, yield)
}

// end follows every path, and path + end follows everything below path.
const end = "0"

// successor returns the first string behind path.
func successor(path string) string { return path + "\x00" }

// descendants returns the first string that may be a path below path, and the first behind it that may not.
func descendants(path string) (from, to string) {
	path = strings.TrimSuffix(path, "/")
	return successor(path + "/"), path + end
}

// over returns b with these children.
func (b *branch) over(left, right *branch) *branch {
	if left == b.left && right == b.right {
		return b
	}
	return &branch{node: b.node, priority: b.priority, left: left, right: right}
}

// outranks reports whether b is to be above c. The order is total, so that equal hashes do not make the shape depend on
// anything but the paths.
func (b *branch) outranks(c *branch) bool {
	return c == nil || b.priority > c.priority || b.priority == c.priority && b.node.Path < c.node.Path
}

// split returns what of b precedes path, the node at path or nil, and what of b follows path.
func (b *branch) split(path string) (before *branch, at *Node, behind *branch) {
	switch {
	case b == nil:
		return nil, nil, nil
	case b.node.Path == path:
		return b.left, b.node, b.right
	case b.node.Path < path:
		before, at, behind = b.right.split(path)
		return b.over(b.left, before), at, behind
	default:
		before, at, behind = b.left.split(path)
		return before, at, b.over(behind, b.right)
	}
}

// merge returns both trees in one. All paths of left precede those of right.
func merge(left, right *branch) *branch {
	switch {
	case left == nil:
		return right
	case right == nil:
		return left
	case left.outranks(right):
		return left.over(left.left, merge(left.right, right))
	default:
		return right.over(merge(left, right.left), right.right)
	}
}

// ascend yields the nodes with from <= path < to in order, and reports whether yield always returned true. A yield that
// raises from skips what precedes it.
func (b *branch) ascend(from *string, to string, yield func(*Node) bool) bool {
	for b != nil && *from < to {
		switch path := b.node.Path; {
		case path < *from:
			b = b.right
		case path >= to:
			b = b.left
		default:
			if !b.left.ascend(from, path, yield) || path >= *from && !yield(b.node) {
				return false
			}
			b = b.right
		}
	}
	return true
}
