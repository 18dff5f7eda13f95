package live

import "slices"

// A Backlog is what one session hands to the next: deletions of other nodes than its ephemeral ones.
type Backlog struct {
	Removals []string // absolute paths
	orphans  []orphan
}

// Add adds more.
func (l *Backlog) Add(more Backlog) {
	l.Removals = append(l.Removals, more.Removals...)
	l.orphans = append(l.orphans, more.orphans...)
}

// carried is without the orphans that go with their session.
func (l Backlog) carried() Backlog {
	l.orphans = slices.DeleteFunc(l.orphans, func(o orphan) bool { return o.owner != 0 })
	return l
}

// adopt takes over what an earlier session left, unless this one is over itself.
func (all *orphans) adopt(left Backlog) bool {
	all.mu.Lock()
	defer all.mu.Unlock()
	if all.over != nil {
		return false
	}
	for _, path := range left.Removals {
		all.removals.beginLocked(path, removal{carry: true})
	}
	for _, o := range left.orphans {
		all.beginLocked(o)
	}
	return true
}

// abandonLocked forgets what ends with the session. It returns the rest, and the removals, to be finished without the
// mutex.
func (all *orphans) abandonLocked() (left Backlog, ended map[string]*removal) {
	left.Removals, ended = all.removals.abandonLocked()
	for _, o := range all.of {
		left.orphans = append(left.orphans, *o)
	}
	all.of = map[string]*orphan{}
	return left.carried(), ended
}
