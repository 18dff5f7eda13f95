package cache

import (
	"errors"
	"slices"
	"strings"

	"github.com/go-zookeeper/zk"

	"github.com/gocurator/curator/framework/session"
)

// contents are the nodes that a cache has, and decide what an answer of the servers makes of them. They send nothing,
// and have no lock.
//
// Answers are taken in the order in which their requests were sent, so the newest is right, whatever its zxid says: a
// restored ensemble begins at lower ones.
type contents struct {
	root    string
	depth   int
	noData  bool
	always  bool // each task lists: its Stat does not count children, and a listing costs nothing
	keep    func(relative string) bool
	removed func(path string) // hears of each path that the contents no longer have, and of those that were not there

	nodes  tree
	unread map[unreadable]error // why nodes could not be read or listed

	// lacks has, by path, the part of unread without which the cache is not complete: all but what the client may not
	// read below the root.
	lacks map[string]unreadable

	// The keys of unread by their parents: what is below a node is found without a look at all of them.
	unreadIn map[string]map[unreadable]struct{}
}

// A task is a node that is to be read.
type task struct {
	path  string
	round int  // in which it was heard of; what is found below it inherits that
	whole bool // part of a reading of the whole tree: known children are to be read as well
	owed  bool // Synced waits for it
	again bool // it looks for what no event has reported, by requests
	event event
}

// below is the task to read a child.
func (t task) below(path string) task {
	t.path, t.event, t.again = path, event{}, false
	return t
}

// answered takes what a server has said of a node. changed says that the contents differ, by more than a Stat. list
// says that the node's children are to be listed.
func (c *contents) answered(t task, r session.NodeRead) (changed, list bool) {
	before, known := c.nodes.get(t.path)
	c.readable(unreadable{path: t.path})
	switch {
	case r.Err != nil:
		return c.missed(t.path, r.Err), false
	case t.path != c.root && !c.has(parent(t.path)): // it is read with its parent, if that is there
		c.removed(t.path)
		return false, false
	}
	node := &Node{Path: t.path, Data: r.Data, Stat: r.Stat}
	if c.noData {
		node.Data = nil
	}
	if known && !sameNode(before, node) {
		c.dropBelow(t.path) // it is gone with the node that was there
		known = false
	}
	c.nodes = c.nodes.with(node)
	changed = !known || !sameContent(before, node)
	return changed, c.lists(t, node, known)
}

// lists reports whether the children of a node that was read are to be listed.
func (c *contents) lists(t task, n *Node, known bool) bool {
	switch {
	case !c.inside(t.path, 1) || known && !t.whole && !t.again && !c.always:
		return false
	case c.always || n.Stat.NumChildren > 0 || c.hasBelow(t.path):
		return true
	}
	c.readable(unreadable{t.path, true})
	c.forgetBelow(t.path)
	return false
}

// missed takes why a node was not read. A root that is there keeps what it had, as without a connection.
func (c *contents) missed(path string, err error) (changed bool) {
	there := !errors.Is(err, zk.ErrNoNode)
	if !there || path != c.root {
		changed = c.drop(path)
	}
	if there && (path == c.root || c.has(parent(path))) {
		c.unreadable(unreadable{path: path}, err)
	}
	return changed
}

// listed takes the names of a node's children. It returns what is to be read now, and what is gone.
func (c *contents) listed(t task, r session.NodeRead) (next []task, gone []string) {
	dir, known := c.nodes.get(t.path)
	c.readable(unreadable{t.path, true})
	switch {
	case !known:
		return nil, nil
	case errors.Is(r.Err, zk.ErrNoNode) || r.Err == nil && r.Stat.Czxid != dir.Stat.Czxid:
		t.again = false
		return []task{t}, nil // it has gone, or was created again, since it was read: there is an event
	case r.Err != nil: // its children are known from events alone
		c.unreadable(unreadable{t.path, true}, r.Err)
	default:
		gone = c.dropUnlisted(t.path, r.Children)
	}
	if t.whole {
		for child := range c.nodes.children(t.path) {
			next = append(next, t.below(child.Path))
		}
	}
	for _, name := range r.Children {
		if path := join(t.path, name); validName(name) && !c.has(path) && c.keep(c.relative(path)) {
			next = append(next, t.below(path))
		}
	}
	slices.SortFunc(next, func(a, b task) int { return strings.Compare(a.path, b.path) })
	return slices.CompactFunc(next, func(a, b task) bool { return a.path == b.path }), gone
}

// dropUnlisted removes the children that a listing does not have. A server may withhold the event that an unreadable
// node is gone.
func (c *contents) dropUnlisted(dir string, names []string) (gone []string) {
	listed := make(map[string]bool, len(names))
	for _, name := range names {
		listed[join(dir, name)] = true
	}
	for child := range c.nodes.children(dir) {
		if !listed[child.Path] {
			gone = append(gone, child.Path)
			c.drop(child.Path)
		}
	}
	for u := range c.unreadIn[dir] {
		if !u.listing && !listed[u.path] {
			c.readable(u)
		}
	}
	return gone
}

// wants reports whether a node that an event names is one to read.
func (c *contents) wants(path string) bool {
	if !c.inside(path, 0) || session.ValidatePath(path) != nil {
		return false
	}
	relative := c.relative(path)
	for i := range len(relative) + 1 {
		if i < len(relative) && relative[i] != '/' {
			continue
		}
		if at := relative[:i]; path != c.root && !c.has(join(c.root, at)) && !c.keep(at) {
			return false
		}
	}
	return true
}

// inside reports whether nodes that stand so far below a path are within the root and the depth.
func (c *contents) inside(path string, below int) bool {
	if path == c.root {
		return c.depth < 0 || below <= c.depth
	}
	if !strings.HasPrefix(path, prefix(c.root)) {
		return false
	}
	return c.depth < 0 || strings.Count(c.relative(path), "/")+1+below <= c.depth
}

func (c *contents) relative(path string) string { return strings.TrimPrefix(path, prefix(c.root)) }

func (c *contents) has(path string) bool {
	_, known := c.nodes.get(path)
	return known
}

// drop removes a node with everything below it, and reports whether it was there.
func (c *contents) drop(path string) bool {
	known := c.has(path)
	c.forgetBelow(path)
	c.readable(unreadable{path, true})
	c.readable(unreadable{path, false})
	c.removed(path)
	c.nodes = c.nodes.without(path)
	return known
}

// dropBelow removes everything below a node.
func (c *contents) dropBelow(path string) {
	c.forgetBelow(path)
	for child := range c.nodes.children(path) {
		c.nodes = c.nodes.without(child.Path)
	}
}

func (c *contents) hasBelow(path string) bool {
	for range c.nodes.below(path) {
		return true
	}
	return false
}

func (c *contents) forgetBelow(path string) {
	for n := range c.nodes.below(path) {
		c.removed(n.Path)
		c.forgetUnreadIn(n.Path)
	}
	c.forgetUnreadIn(path)
}

// prefix is what the paths below a path begin with.
func prefix(path string) string {
	if path == "/" {
		return path
	}
	return path + "/"
}

func join(dir, name string) string { return prefix(dir) + name }

func parent(path string) string { return path[:max(strings.LastIndexByte(path, '/'), 1)] }

// validName refuses what no server may answer.
func validName(name string) bool {
	return !strings.Contains(name, "/") && session.ValidatePath("/"+name) == nil
}
