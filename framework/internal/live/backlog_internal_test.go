package live

import (
	"errors"
	"testing"

	"github.com/gocurator/curator/framework/session"
)

func TestWhatIsLeftToASessionThatIsOverGoesToTheNext(t *testing.T) {
	persistent := protected("n-")
	s, owner := unconnected()
	s.end(session.ErrSessionLost)
	s.Owner.orphans.sweep(Leftovers{orphans: []orphan{{dir: "/a", name: persistent}}})
	s.Owner.orphans.sweep(Leftovers{orphans: []orphan{{dir: "/a", name: protected("n-"), owner: 1}}})
	if r := s.maker.removals.remove("/a/b", true); !errors.Is(r.Err(), session.ErrSessionLost) {
		t.Errorf("a removal in a session that is over says %v", r.Err())
	}
	c := owner.left
	if len(c.orphans) != 1 || c.orphans[0].name != persistent || len(c.Removals) != 1 {
		t.Errorf("left: %+v", c)
	}
	cfg := unconnectedConfig()
	cfg.Carried = c
	if next := newWhole(cfg, owner.hear()); len(next.Owner.orphans.of) != 1 || len(next.Owner.removals.pending) != 1 {
		t.Errorf("adopted: %v, %v", next.Owner.orphans.of, next.Owner.removals.pending)
	}
}

// The node of a try in another session has gone with that.
func TestAnOrphanOfAnotherSessionIsNotLookedFor(t *testing.T) {
	s, _ := unconnected()
	s.onAttached(attachedAt(s.clock.Now()))
	s.Owner.orphans.adopt(Leftovers{orphans: []orphan{{dir: "/a", name: protected("n-"), owner: s.ID() + 1}}})
	if len(s.Owner.orphans.of) != 0 {
		t.Errorf("got %d orphans, want none", len(s.Owner.orphans.of))
	}
}
