package zktest

import (
	"slices"
	"strings"
)

// read executes a request that begins with a path and changes no data.
func (c *conn) read(op Op, d *decoder, out *encoder) code {
	s := c.srv
	path := d.path()
	n := s.view.find(path)
	switch op {
	case OpSync:
		if d.bad {
			return codeMarshalling
		}
		out.string(path)
		return 0
	case OpExists:
		return c.exists(path, n, d, out)
	case OpGetData, OpGetChildren, OpGetChildren2:
		watch := d.bool()
		if d.bad {
			return codeMarshalling
		}
		return c.get(op, path, n, watch, out)
	case OpAddWatch:
		return c.addWatchOp(path, d, out)
	}
	if d.bad {
		return codeMarshalling
	}
	switch op {
	case OpGetACL:
		return c.getACL(n, out)
	case OpGetEphemerals:
		prefix := strings.TrimSpace(path)
		if prefix == "/" {
			prefix = ""
		}
		mine := s.view.ephemeralsOf(c.sess.id)
		out.strings(slices.DeleteFunc(mine, func(p string) bool { return !strings.HasPrefix(p, prefix) }))
	case OpGetAllChildrenNumber:
		if n == nil {
			return codeNoNode
		}
		if !allowed(n.acl, permRead, c.auth) {
			return codeNoAuth
		}
		total := s.view.descendants(path)
		if path == "" {
			total++ // the nameless root has the root below it
		}
		out.int32(total)
	}
	return 0
}

// exists leaves its watch on a missing node too.
func (c *conn) exists(path string, n *node, d *decoder, out *encoder) code {
	watch := d.bool()
	switch {
	case d.bad:
		return codeMarshalling
	case strings.Contains(path, "\x00"):
		return codeBadArguments
	case n != nil && c.srv.cfg.version.guarded() && !allowed(n.acl, permRead, c.auth):
		return codeNoAuth
	}
	if watch {
		c.srv.dataWatches.add(path, c, watchOnce)
	}
	if n == nil {
		return codeNoNode
	}
	out.stat(n.stat())
	return 0
}

func (c *conn) get(op Op, path string, n *node, watch bool, out *encoder) code {
	if n == nil {
		return codeNoNode
	}
	if !allowed(n.acl, permRead, c.auth) {
		return codeNoAuth
	}
	table := &c.srv.childWatches
	switch op {
	case OpGetData:
		table = &c.srv.dataWatches
		out.bytes(n.data)
		out.stat(n.stat())
	case OpGetChildren:
		out.strings(n.shuffledChildren())
	case OpGetChildren2:
		out.strings(n.shuffledChildren())
		out.stat(n.stat())
	}
	if watch {
		table.add(path, c, watchOnce)
	}
	return 0
}

func (c *conn) getACL(n *node, out *encoder) code {
	if n == nil {
		return codeNoNode
	}
	if !allowed(n.acl, permRead|permAdmin, c.auth) {
		return codeNoAuth
	}
	acl := n.acl
	if !allowed(acl, permAdmin, c.auth) {
		acl = maskACL(acl)
	}
	out.acl(acl)
	out.stat(n.stat())
	return 0
}

func (c *conn) addWatchOp(path string, d *decoder, out *encoder) code {
	mode := d.int32()
	switch {
	case d.bad || mode < 0 || mode > 1:
		return codeMarshalling
	case mode == 0:
		c.addWatch(path, watchPersistent)
	default:
		c.addWatch(path, watchRecursive)
	}
	out.int32(0)
	return 0
}

// descendants counts the nodes below path.
func (t *tree) descendants(path string) int32 {
	n := t.find(path)
	total := int32(len(n.children))
	for name := range n.children {
		total += t.descendants(join(path, name))
	}
	return total
}
