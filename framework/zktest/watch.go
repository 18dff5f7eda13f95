package zktest

import (
	"cmp"
	"slices"
)

// Event types of the protocol.
const (
	eventCreated  int32 = 1
	eventDeleted  int32 = 2
	eventData     int32 = 3
	eventChildren int32 = 4
)

// watchMode is a set: a connection can hold several kinds of watch on one
// path, and they do not disturb each other.
type watchMode uint8

const (
	watchOnce watchMode = 1 << iota
	watchPersistent
	watchRecursive
	watchAny = watchOnce | watchPersistent | watchRecursive
)

// watchTable holds the watches of one kind (data or children) of one server.
type watchTable struct {
	byPath    map[string]map[*conn]watchMode
	recursive int  // entries with watchRecursive: without any, ancestors need no look
	single    bool // as before 3.9: one mode for a path and a client, the newest
}

func newWatchTable(v version) watchTable {
	return watchTable{byPath: make(map[string]map[*conn]watchMode), single: v.before(version{3, 9, 0})}
}

func (t *watchTable) add(path string, c *conn, mode watchMode) {
	if t.single {
		t.remove(path, c, watchAny&^mode)
	}
	on := t.byPath[path]
	if on == nil {
		on = make(map[*conn]watchMode, 1)
		t.byPath[path] = on
	}
	if mode&^on[c]&watchRecursive != 0 {
		t.recursive++
	}
	on[c] |= mode
	if c.watched == nil {
		c.watched = make(map[string]struct{})
	}
	c.watched[path] = struct{}{}
}

func (t *watchTable) has(path string, c *conn, mode watchMode) bool {
	return t.byPath[path][c]&mode != 0
}

// remove reports whether there was one. The path stays in c.watched, which
// may say too much but never too little.
func (t *watchTable) remove(path string, c *conn, mode watchMode) bool {
	on := t.byPath[path]
	had := on[c]
	if had&mode == 0 {
		return false
	}
	if had&mode&watchRecursive != 0 {
		t.recursive--
	}
	if left := had &^ mode; left != 0 {
		on[c] = left
		return true
	}
	delete(on, c)
	if len(on) == 0 {
		delete(t.byPath, path)
	}
	return true
}

// take returns who is to hear of an event at path, by connection number, and
// removes the one-shot watches that it uses up.
func (t *watchTable) take(path string, event int32) []*conn {
	var hear []*conn
	for c, mode := range t.byPath[path] {
		if mode&(watchOnce|watchPersistent) != 0 || event != eventChildren {
			hear = append(hear, c)
		}
	}
	for _, c := range hear {
		t.remove(path, c, watchOnce)
	}
	if t.recursive > 0 && event != eventChildren {
		hear = t.ancestors(path, hear)
	}
	slices.SortFunc(hear, func(a, b *conn) int { return cmp.Compare(a.number, b.number) })
	return slices.Compact(hear)
}

// takeMode returns who has a watch of one mode on path, by connection number, and removes those that fire once.
func (t *watchTable) takeMode(path string, mode watchMode) []*conn {
	var hear []*conn
	for c, has := range t.byPath[path] {
		if has&mode != 0 {
			hear = append(hear, c)
		}
	}
	for _, c := range hear {
		t.remove(path, c, mode&watchOnce)
	}
	slices.SortFunc(hear, func(a, b *conn) int { return cmp.Compare(a.number, b.number) })
	return hear
}

func (t *watchTable) ancestors(path string, hear []*conn) []*conn {
	for path != "/" {
		path, _ = split(path)
		for c, mode := range t.byPath[path] {
			if mode&watchRecursive != 0 {
				hear = append(hear, c)
			}
		}
	}
	return hear
}

// forgetWatches drops all watches of a connection that is going away.
func (s *Server) forgetWatches(c *conn) {
	for path := range c.watched {
		s.dataWatches.remove(path, c, watchAny)
		s.childWatches.remove(path, c, watchAny)
	}
	c.watched = nil
}
