package live

import (
	"errors"
	"maps"
	"slices"
	"time"

	"github.com/go-zookeeper/zk"

	"github.com/gocurator/curator/framework/internal/transport"
)

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
// comes due until they are answered is looked for together then.
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
	var calls []*transport.Call
	for _, dir := range slices.Sorted(maps.Keys(byDir)) {
		for _, o := range byDir[dir] {
			o.asked = true
		}
		calls = append(calls, all.search(dir, byDir[dir], &behind)...)
	}
	return all.behindFence(&behind, calls...)
}

// search makes the requests that look for orphans of one directory. The names of nodes without a number are known: that
// needs no right to list.
func (all *orphans) search(dir string, orphans []*orphan, behind *error) (calls []*transport.Call) {
	listed := false
	for _, o := range orphans {
		switch {
		case !o.sequential:
			calls = append(calls, transport.Exists(join(dir, o.name), false, func(stat *zk.Stat, err error) {
				var found []string
				switch {
				case err != nil:
				case !o.exact:
					found = []string{o.name}
				case stat.EphemeralOwner == o.owner:
					all.foundExact(o)
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

// looked plans the next looks for orphans that a look has not shown. err is why the look failed, or nil.
func (all *orphans) looked(orphans []*orphan, err error) {
	now := all.clock.Now()
	refused := err != nil && !errors.Is(err, zk.ErrNoNode)
	var unseen []string
	all.mu.Lock()
	for _, o := range orphans {
		if all.of[o.key()] != o {
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
			delete(all.of, o.key())
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
