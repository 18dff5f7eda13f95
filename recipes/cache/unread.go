package cache

import (
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/go-zookeeper/zk"
)

// An unreadable is a node that could not be read, or listed.
type unreadable struct {
	path    string
	listing bool
}

// unreadable notes why a node could not be read or listed. Its parent is in the contents, unless it is the root.
func (c *contents) unreadable(u unreadable, err error) {
	dir := parent(u.path)
	if c.unreadIn[dir] == nil {
		c.unreadIn[dir] = map[unreadable]struct{}{}
	}
	c.unread[u], c.unreadIn[dir][u] = err, struct{}{}
	if u.path == c.root || !errors.Is(err, zk.ErrNoAuth) {
		c.lacks[u.path] = u
	}
}

// readable undoes unreadable.
func (c *contents) readable(u unreadable) {
	if _, found := c.unread[u]; !found {
		return
	}
	dir := parent(u.path)
	delete(c.unread, u)
	if c.lacks[u.path] == u {
		delete(c.lacks, u.path)
	}
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

// lacking returns the first part, by path, that the contents lack.
func (c *contents) lacking() unreadable { return c.lacks[slices.Sorted(maps.Keys(c.lacks))[0]] }

// incomplete is why the contents are not complete, nil if they are.
func (c *contents) incomplete() error {
	if len(c.lacks) == 0 {
		return nil
	}
	u := c.lacking()
	if u.listing {
		return fmt.Errorf("cache: the children of %q cannot be listed: %w", u.path, c.unread[u])
	}
	return fmt.Errorf("cache: %q cannot be read: %w", u.path, c.unread[u])
}
