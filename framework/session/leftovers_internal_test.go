package session

import (
	"errors"
	"testing"
)

func TestWhatIsLeftToASessionThatIsOverGoesToTheNext(t *testing.T) {
	s, owner := unconnected()
	s.end(ErrSessionLost)
	s.sweep(orphan{dir: "/a", prefix: "_c_persistent", carry: true})
	s.sweep(orphan{dir: "/a", prefix: "_c_ephemeral"})
	if r := s.remove("/a/b", true); !errors.Is(r.Err(), ErrSessionLost) {
		t.Errorf("a removal in a session that is over says %v", r.Err())
	}
	c := owner.left
	if len(c.orphans) != 1 || c.orphans[0].prefix != "_c_persistent" || len(c.Removals) != 1 {
		t.Errorf("left: %+v", c)
	}
	cfg := unconnectedConfig()
	cfg.Carried = c
	if next := New(cfg, owner.hear()).Session(); len(next.orphans) != 1 || len(next.removals) != 1 {
		t.Errorf("adopted: %v, %v", next.orphans, next.removals)
	}
}
