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

// setWatches restores a reconnected client's watches: what changed after the
// client's last zxid is reported immediately instead.
func (c *conn) setWatches(d *decoder, more bool) code {
	since := d.int64()
	data, exist, child := d.strings(), d.strings(), d.strings()
	var persistent, recursive []string
	if more {
		persistent, recursive = d.strings(), d.strings()
	}
	if d.bad {
		return codeMarshalling
	}
	s := c.srv
	for _, path := range data {
		switch n := s.view.find(path); {
		case n == nil:
			c.report(eventDeleted, path)
		case n.mzxid > since:
			c.report(eventData, path)
		default:
			s.dataWatches.add(path, c, watchOnce)
		}
	}
	for _, path := range exist {
		if s.view.find(path) != nil {
			c.report(eventCreated, path)
			continue
		}
		s.dataWatches.add(path, c, watchOnce)
	}
	for _, path := range child {
		switch n := s.view.find(path); {
		case n == nil:
			c.report(eventDeleted, path)
		case n.pzxid > since:
			c.report(eventChildren, path)
		default:
			s.childWatches.add(path, c, watchOnce)
		}
	}
	for _, path := range persistent {
		c.addWatch(path, watchPersistent)
	}
	for _, path := range recursive {
		c.addWatch(path, watchRecursive)
	}
	return 0
}

// report sends an event of setWatches: before the answer, or behind it as ClickHouse Keeper does.
func (c *conn) report(event int32, path string) {
	if c.srv.cfg.keeper {
		c.behind = append(c.behind, report{event, path})
		return
	}
	c.sendEvent(event, path, -1)
}

// A report is an event that goes out behind an answer.
type report struct {
	event int32
	path  string
}

func (c *conn) reportBehind() {
	for _, r := range c.behind {
		c.sendEvent(r.event, r.path, -1)
	}
	c.behind = nil
}

func (c *conn) addWatch(path string, mode watchMode) {
	c.srv.dataWatches.add(path, c, mode)
	c.srv.childWatches.add(path, c, mode)
}

// Watcher types of checkWatches and removeWatches.
const (
	watcherChildren   = 1
	watcherData       = 2
	watcherAny        = 3
	watcherPersistent = 4
	watcherRecursive  = 5
)

// findWatches answers checkWatches and, with remove, removeWatches.
func (c *conn) findWatches(d *decoder, remove bool) code {
	path, kind := d.string(), d.int32()
	if d.bad {
		return codeMarshalling
	}
	s := c.srv
	old := s.cfg.version.before(version{3, 9, 0})
	look := func(t *watchTable, mode watchMode) bool {
		switch {
		case remove:
			return t.remove(path, c, mode)
		case old:
			return len(t.byPath[path]) > 0 // any client's watch counts
		}
		return t.has(path, c, mode)
	}
	var found bool
	both := func(mode watchMode) {
		inData, inChild := look(&s.dataWatches, mode), look(&s.childWatches, mode)
		found = inData || inChild
	}
	once := watchOnce
	if old {
		once = watchAny
	}
	switch {
	case kind == watcherChildren:
		found = look(&s.childWatches, once)
	case kind == watcherData:
		found = look(&s.dataWatches, once)
	case kind == watcherAny:
		both(watchAny)
	case kind == watcherPersistent && !old:
		both(watchPersistent)
	case kind == watcherRecursive && !old:
		both(watchRecursive)
	default:
		return codeMarshalling
	}
	if !found {
		return codeNoWatcher
	}
	return 0
}
