package session

import (
	"slices"

	"github.com/gocurator/curator/framework/internal/watches"
)

// Leftovers are what one session hands to the next: deletions of other nodes than its ephemeral ones.
type Leftovers struct {
	Removals []string // absolute paths
	orphans  []orphan
}

// Add adds more.
func (l *Leftovers) Add(more Leftovers) {
	l.Removals = append(l.Removals, more.Removals...)
	l.orphans = append(l.orphans, more.orphans...)
}

// abandon forgets what ends with the session. It returns the rest, and the removals, to be finished without mu. mu is
// held, and over is set.
func (s *Session) abandon() (left Leftovers, removals map[string]*Removal) {
	for path, r := range s.removals {
		if r.carry {
			left.Removals = append(left.Removals, path)
		}
	}
	for path, refused := range s.refusals {
		if refused.carry && s.removals[path] == nil {
			left.Removals = append(left.Removals, path)
		}
	}
	for _, o := range s.orphans {
		left.orphans = append(left.orphans, *o)
	}
	removals = s.removals
	s.removals, s.orphans, s.refusals = map[string]*Removal{}, map[string]*orphan{}, map[string]*refusedRemoval{}
	s.watches = watches.New()
	return left.carried(), removals
}

// carried is without the orphans that go with their session.
func (l Leftovers) carried() Leftovers {
	l.orphans = slices.DeleteFunc(l.orphans, func(o orphan) bool { return o.owner != 0 })
	return l
}

// adopt takes over what an earlier session left, unless it is over itself.
func (s *Session) adopt(left Leftovers) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.over != nil {
		return false
	}
	for _, path := range left.Removals {
		s.removing(path, true)
	}
	for _, o := range left.orphans {
		s.sweeping(o)
	}
	return true
}
