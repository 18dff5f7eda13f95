package live

import (
	"strings"
	"time"
)

// An orphan is a try to create a node whose answer came to no caller, and whose node no search has shown. If a server
// executes it late (see fence), the node would keep a lock taken until the session ends. So the session looks for it
// again, four times in four session timeouts. Whenever a listing shows the node, it is removed.
//
// A contender's own node is never an orphan's: each try has a GUID of its own, and a creation that adopts the node of a
// lost try takes it out of what it leaves to the session.
type orphan struct {
	dir, name  string
	sequential bool  // the server adds a number
	owner      int64 // the session that an ephemeral node would go with; 0 if it outlives sessions
	exact      bool  // the name has no GUID: the node is the orphan's if it belongs to owner

	// Guarded by the mutex.
	since   time.Time // when the session took it over
	looks   int       // the next look's index in lookDelays
	due     time.Time
	asked   bool // a look was sent on this connection, and is not answered
	refused bool // the log says so
}

// The orphans of a session.
type orphans struct {
	*sender
	removals *removals
	of       map[string]*orphan // by key; guarded by the mutex
}

// key is what no other orphan of the session has: the GUID, or the path of a name without one.
func (o *orphan) key() string {
	if o.exact {
		return join(o.dir, o.name)
	}
	return guidOf(o.name)
}

// lookDelays are the times of the looks, in sixteenths of the session timeout. The first is left out after a search.
// A server whose threads stand still for longer than the last was left by its clients long before.
var lookDelays = [...]int{0, 1, 4, 16, 64}

// lookTime is when a look is due, by the session timeout.
func lookTime(opened, since time.Time, look int, timeout time.Duration) time.Time {
	if lookDelays[look] == 0 {
		return since
	}
	return onGrid(opened, since.Add(timeout/16*time.Duration(lookDelays[look])), timeout)
}

// onGrid moves a time to the next sixteenth of the session timeout since the session was opened: what comes due at
// nearly the same time is asked for together.
func onGrid(opened, at time.Time, timeout time.Duration) time.Time {
	step := max(timeout/16, 1)
	if past := at.Sub(opened) % step; past > 0 {
		return at.Add(step - past)
	}
	return at
}

func (c *Creation) orphan(try lostTry) orphan {
	o := orphan{dir: c.Dir, name: try.name, sequential: c.sequential()}
	if c.ephemeral() {
		o.owner = try.session
	}
	if try.searched {
		o.looks = 1
	}
	return o
}

// sweep takes orphans over, or leaves them to the next session if they outlive this one, which is over.
func (all *orphans) sweep(left Backlog) {
	if len(left.orphans) > 0 && !all.adopt(left) {
		all.tell.Backlog(left.carried())
	}
}

// beginLocked takes an orphan over while the session is not over.
func (all *orphans) beginLocked(o orphan) {
	if o.owner != 0 && o.owner != all.sessionID() || all.of[o.key()] != nil {
		return // gone with its session; or known
	}
	o.since, o.asked = all.clock.Now(), false
	o.looks = min(o.looks, 1) // an earlier session's looks may all have been before the create is executed
	o.due = lookTime(all.opened, o.since, o.looks, all.leases.timeout)
	all.of[o.key()] = &o
	all.wakeClock() // the clock's goroutine asks once for all that come at this moment
}

// guidOf is the part of a protected node's name that is unique, "" if it has none.
func guidOf(name string) string {
	const length = len("_c_01234567-89ab-cdef-0123-456789abcdef")
	if len(name) < length || !strings.HasPrefix(name, "_c_") {
		return ""
	}
	return name[:length]
}

// listed removes the nodes of orphans that a listing shows.
func (all *orphans) listed(dir string, children []string) {
	if len(children) == 0 {
		return
	}
	all.mu.Lock()
	if len(all.of) == 0 || all.over != nil {
		all.mu.Unlock()
		return
	}
	var found []string
	for _, name := range children {
		if o := all.of[guidOf(name)]; o != nil && o.dir == dir {
			delete(all.of, guidOf(name)) // its fate is known: a request is executed once
			found = append(found, join(dir, name))
			all.removals.beginLocked(join(dir, name), removal{carry: o.owner == 0})
		}
	}
	all.mu.Unlock()
	for _, path := range found {
		all.report(path)
	}
}

// foundExact removes the node of an orphan without a GUID. The looks go on: the node may be that of another try, which
// was answered, or of one of several that are still to come.
func (all *orphans) foundExact(o *orphan) {
	path := o.key()
	all.mu.Lock()
	found := all.of[path] == o && all.over == nil && all.removals.pending[path] == nil && all.removals.refusals[path] == nil
	if found {
		all.removals.beginLocked(path, removal{own: true})
	}
	all.mu.Unlock()
	if found {
		all.report(path)
	}
}

func (all *orphans) report(path string) {
	all.cfg.Transport.Logger.Warn("framework: node of a create whose answer was lost is removed", "path", path)
	all.tell.OrphanFound(path)
}
