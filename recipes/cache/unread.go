package cache

// An unreadable is a node that could not be read, or listed.
type unreadable struct {
	path    string
	listing bool
}

// unreadable notes why a node could not be read or listed. Its parent is in the contents, unless it is the root.
func (c *contents) unreadable(u unreadable, err error) {
	dir := parent(u.path)
	if c.unreadIn == nil {
		c.unreadIn = map[string]map[unreadable]struct{}{}
	}
	if c.unreadIn[dir] == nil {
		c.unreadIn[dir] = map[unreadable]struct{}{}
	}
	c.unread[u], c.unreadIn[dir][u] = err, struct{}{}
}

// readable undoes unreadable.
func (c *contents) readable(u unreadable) {
	if _, found := c.unread[u]; !found {
		return
	}
	dir := parent(u.path)
	delete(c.unread, u)
	if delete(c.unreadIn[dir], u); len(c.unreadIn[dir]) == 0 {
		delete(c.unreadIn, dir)
	}
}

// forgetUnreadIn forgets what could not be read or listed right below a node.
func (c *contents) forgetUnreadIn(dir string) {
	for u := range c.unreadIn[dir] {
		if u.path != dir { // the parent of / is /
			c.removed(u.path)
			c.readable(u)
		}
	}
}
