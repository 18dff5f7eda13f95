package zktest

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
