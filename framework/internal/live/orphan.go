package live

import (
	"errors"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/go-zookeeper/zk"

	"github.com/gocurator/curator/framework/internal/transport"
)

// An orphan is a try to create a node whose answer came to no caller, and whose node no search has shown. A server may
// execute it late (see fence): no contender would own the node, and it would keep a lock taken until the session ends.
// So the session looks for it again, four times in four session timeouts. Whenever a listing shows the node, it is
// removed.
//
// A contender's own node is never an orphan's: each try has a GUID of its own, and a creation that adopts the node of a
// lost try takes it out of what it leaves to the session.
type orphan struct {
	dir, name  string
	sequential bool  // the server adds a number
	owner      int64 // the session that an ephemeral node would go with; 0 if it outlives sessions

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
	of       map[string]*orphan // by GUID; guarded by the mutex
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
	if o.owner != 0 && o.owner != all.sessionID() || all.of[guidOf(o.name)] != nil {
		return // gone with its session; or known
	}
	o.since, o.asked = all.clock.Now(), false
	o.looks = min(o.looks, 1) // an earlier session's looks may all have been before the create is executed
	o.due = lookTime(all.opened, o.since, o.looks, all.leases.timeout)
	all.of[guidOf(o.name)] = &o
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

// nextLocked returns when the next look is due, or an hour from now if none is.
func (all *orphans) nextLocked(now time.Time) time.Time {
	next := now.Add(time.Hour)
	for _, o := range all.of {
		if o.asked || !all.online {
			return now.Add(time.Hour) // the answer, or the next connection, comes first
		}
		next = earliest(next, o.due)
	}
	return next
}

// dueLocked makes the requests of the looks that are due: a fence, and one listing of each directory behind it. What
// comes due until they are answered is looked for together then. If connections have ended on a fence, another request
// must be answered first.
func (all *orphans) dueLocked(now time.Time) []*transport.Call {
	if len(all.of) == 0 || !all.online {
		return nil
	}
	byDir := map[string][]*orphan{}
	for _, o := range all.of {
		if o.asked {
			return nil
		}
		if !now.Before(o.due) {
			byDir[o.dir] = append(byDir[o.dir], o)
		}
	}
	if len(byDir) == 0 {
		return nil
	}
	var behind error
	fence := all.fence(func(err error) { behind = err })
	calls := one(fence)
	for _, dir := range slices.Sorted(maps.Keys(byDir)) {
		for _, o := range byDir[dir] {
			o.asked = true
		}
		calls = append(calls, all.search(dir, byDir[dir], &behind)...)
	}
	if !all.support.Doubts(fence) {
		return calls
	}
	return one(all.sureFirst(func() { all.sendLocked(calls...) }))
}

// search makes the requests that look for orphans of one directory. The names of nodes without a number are known: that
// needs no right to list.
func (all *orphans) search(dir string, orphans []*orphan, behind *error) (calls []*transport.Call) {
	listed := false
	for _, o := range orphans {
		switch {
		case !o.sequential:
			calls = append(calls, transport.Exists(join(dir, o.name), false, func(_ *zk.Stat, err error) {
				var found []string
				if err == nil {
					found = []string{o.name}
				}
				all.searched(dir, []*orphan{o}, found, *behind, err)
			}))
		case !listed:
			listed = true
			calls = append(calls, transport.Children(dir, false, func(children []string, _ *zk.Stat, err error) {
				asked := slices.DeleteFunc(slices.Clone(orphans), func(o *orphan) bool { return !o.sequential })
				all.searched(dir, asked, children, *behind, err)
			}))
		}
	}
	return calls
}

// searched handles the answer to a look: what it found, or why the fence or the look itself failed.
func (all *orphans) searched(dir string, asked []*orphan, found []string, behind, err error) {
	switch {
	case passing(behind) || passing(err): // the server is overloaded: a look is not worth the connection
		all.lookLater(asked)
	case all.unanswered(behind) || all.unanswered(err): // looked for again on the next connection
	default:
		all.listed(dir, found)
		all.looked(asked, err)
	}
}

// lookLater repeats a look that an overloaded server has refused.
func (all *orphans) lookLater(asked []*orphan) {
	all.mu.Lock()
	defer all.mu.Unlock()
	for _, o := range asked {
		o.asked, o.due = false, all.clock.Now().Add(max(time.Second, all.leases.timeout/16))
	}
	all.wakeClock()
}

// listed removes the nodes of orphans that a listing shows.
func (all *orphans) listed(dir string, children []string) {
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
			all.removals.beginLocked(join(dir, name), o.owner == 0)
		}
	}
	all.mu.Unlock()
	for _, path := range found {
		all.report(path)
	}
}

func (all *orphans) report(path string) {
	all.cfg.Transport.Logger.Warn("framework: node of a create whose answer was lost is removed", "path", path)
	all.tell.OrphanFound(path)
}

// looked plans the next looks for orphans that a look has not shown. err is why the look failed, or nil.
func (all *orphans) looked(orphans []*orphan, err error) {
	now := all.clock.Now()
	refused := err != nil && !errors.Is(err, zk.ErrNoNode)
	var unseen []string
	all.mu.Lock()
	for _, o := range orphans {
		guid := guidOf(o.name)
		if all.of[guid] != o {
			continue
		}
		if refused && !o.refused {
			o.refused = true
			unseen = append(unseen, join(o.dir, o.name))
		}
		o.asked = false
		for o.looks++; o.looks < len(lookDelays); o.looks++ {
			if o.due = lookTime(all.opened, o.since, o.looks, all.leases.timeout); o.due.After(now) {
				break
			}
		}
		if o.looks == len(lookDelays) {
			delete(all.of, guid)
		}
	}
	all.mu.Unlock()
	all.wakeClock()
	for _, path := range unseen {
		all.cfg.Transport.Logger.Warn("framework: node of a create whose answer was lost could not be looked for", "path", path, "error", err)
	}
}

// forgetLooksLocked makes the looks due again whose answers a lost connection took.
func (all *orphans) forgetLooksLocked() {
	for _, o := range all.of {
		o.asked = false
	}
}
