package live

import (
	"errors"
	"testing"

	"github.com/gocurator/curator/framework/internal/cause"
	"github.com/gocurator/curator/framework/session"
)

func TestWhatIsLeftToASessionThatIsOverGoesToTheNext(t *testing.T) {
	persistent := protected("n-")
	s, owner := unconnected()
	s.end(session.ErrSessionLost, cause.Expired)
	s.Runner.orphans.sweep(Backlog{orphans: []orphan{{dir: "/a", name: persistent}}})
	s.Runner.orphans.sweep(Backlog{orphans: []orphan{{dir: "/a", name: protected("n-"), owner: 1}}})
	if r := s.maker.removals.remove("/a/b", true); !errors.Is(r.Err(), session.ErrSessionLost) {
		t.Errorf("a removal in a session that is over says %v", r.Err())
	}
	c := owner.left
	if len(c.orphans) != 1 || c.orphans[0].name != persistent || len(c.Removals) != 1 {
		t.Errorf("left: %+v", c)
	}
	cfg := unconnectedConfig()
	cfg.Carried = c
	if next := newWhole(cfg, owner.hear()); len(next.Runner.orphans.of) != 1 || len(next.Runner.removals.pending) != 1 {
		t.Errorf("adopted: %v, %v", next.Runner.orphans.of, next.Runner.removals.pending)
	}
}

// The node of a try in another session has gone with that.
func TestAnOrphanOfAnotherSessionIsNotLookedFor(t *testing.T) {
	s, _ := unconnected()
	s.onAttached(attachedAt(s.clock.Now()))
	s.Runner.orphans.adopt(Backlog{orphans: []orphan{{dir: "/a", name: protected("n-"), owner: s.ID() + 1}}})
	if len(s.Runner.orphans.of) != 0 {
		t.Errorf("got %d orphans, want none", len(s.Runner.orphans.of))
	}
}
