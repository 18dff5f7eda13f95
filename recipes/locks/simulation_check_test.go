package locks_test

import (
	"cmp"
	"slices"
)

// check checks the history: G1 and G2 in one, since a hold ends when its owner knows; G3 where nothing went wrong; G9.
func (s *simulation) check() {
	slices.SortFunc(s.history, func(a, b hold) int {
		return cmp.Or(a.begin.Compare(b.begin), cmp.Compare(a.token, b.token), cmp.Compare(a.count, b.count))
	})
	for i, b := range s.history {
		if !s.faulty && b.lost != nil {
			s.T.Errorf("seed %d: %s lost the lock for nothing: %v", s.Seed, b.who, b.lost)
		}
		for _, a := range s.history[:i] {
			if a.owner == b.owner || a.shared && b.shared {
				continue
			}
			if b.begin.Before(a.end) {
				s.T.Errorf("seed %d: %s is let in at %v, %s holds until %v", s.Seed, b.who, b.begin, a.who, a.end)
			}
			if b.token < a.token || b.token == a.token && b.count <= a.count {
				s.T.Errorf("seed %d: %s has token %d/%d after %s's %d/%d", s.Seed, b.who, b.token, b.count, a.who, a.token, a.count)
			}
		}
	}
}
