package session

import (
	"errors"
	"testing"
)

func TestWhatIsLeftToASessionThatIsOverGoesToTheNext(t *testing.T) {
	persistent := protected("n-")
	s, owner := unconnected()
	s.end(ErrSessionLost)
	s.sweep(Leftovers{orphans: []orphan{{dir: "/a", name: persistent}}})
	s.sweep(Leftovers{orphans: []orphan{{dir: "/a", name: protected("n-"), owner: 1}}})
	if r := s.remove("/a/b", true); !errors.Is(r.Err(), ErrSessionLost) {
		t.Errorf("a removal in a session that is over says %v", r.Err())
	}
	c := owner.left
	if len(c.orphans) != 1 || c.orphans[0].name != persistent || len(c.Removals) != 1 {
		t.Errorf("left: %+v", c)
	}
	cfg := unconnectedConfig()
	cfg.Carried = c
	if next := New(cfg, owner.hear()).Session(); len(next.orphans) != 1 || len(next.removals) != 1 {
		t.Errorf("adopted: %v, %v", next.orphans, next.removals)
	}
}

// The node of a try in another session has gone with that.
func TestAnOrphanOfAnotherSessionIsNotLookedFor(t *testing.T) {
	s, _ := unconnected()
	s.onAttached(attachedAt(s.clock.Now()))
	s.adopt(Leftovers{orphans: []orphan{{dir: "/a", name: protected("n-"), owner: s.ID() + 1}}})
	if len(s.orphans) != 0 {
		t.Errorf("got %d orphans, want none", len(s.orphans))
	}
}
