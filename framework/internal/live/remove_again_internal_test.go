package live

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/go-zookeeper/zk"

	"github.com/gocurator/curator/framework/internal/cause"
	"github.com/gocurator/curator/framework/session"
	"github.com/gocurator/curator/framework/zktest"
)

// Many removals are refused at different moments: the session asks again at sixteen moments of a session timeout, not
// at one for each.
func TestRefusedRemovalsAreAskedForTogether(t *testing.T) {
	const removals = 1000
	zktest.Bubble(t, func(t *testing.T) {
		s, _ := unconnected()
		s.onAttached(attachedAt(s.clock.Now()))
		moments := map[time.Time]int{}
		s.mu.Lock()
		defer s.mu.Unlock()
		for i := range removals {
			path := fmt.Sprintf("/dir/n-%d", i)
			s.maker.removals.noteRefusalLocked(path, &removal{})
			moments[s.maker.removals.refusals[path].due]++
			time.Sleep(s.leases.timeout / removals)
		}
		if len(moments) > 17 {
			t.Errorf("got %d moments for %d removals, want at most 17", len(moments), removals)
		}
	})
}

// Each answer comes a moment after its request. However that falls on the sixteenths of the session timeout, the next
// request follows within a session timeout.
func TestARefusedRemovalIsAskedForInEachSessionTimeout(t *testing.T) {
	zktest.Bubble(t, func(t *testing.T) {
		s, _ := unconnected()
		s.onAttached(attachedAt(s.clock.Now()))
		s.mu.Lock()
		defer s.mu.Unlock()
		for i := range 10 {
			asked := s.clock.Now()
			time.Sleep(s.leases.timeout / 100)
			s.maker.removals.noteRefusalLocked("/dir/n", &removal{})
			due := s.maker.removals.refusals["/dir/n"].due
			if pause := due.Sub(asked); pause > s.leases.timeout {
				t.Errorf("request %d: got the next one %v later, want at most %v", i, pause, s.leases.timeout)
			}
			time.Sleep(time.Until(due))
		}
	})
}

// The session ends while its second request for the removal is under way.
func TestARefusedRemovalThatIsAskedForAgainIsLeftToTheNextSession(t *testing.T) {
	s, owner := unconnected()
	s.onAttached(attachedAt(s.clock.Now()))
	path := "/dir/" + protected("n-")
	removals := s.maker.removals
	removals.answered(path, removals.remove(path, true), zk.ErrNoAuth)
	s.mu.Lock()
	removals.dueLocked(s.clock.Now().Add(oneTimeout))
	asked := removals.pending[path] != nil
	s.mu.Unlock()
	s.end(session.ErrSessionLost, cause.Expired)
	if !asked || !slices.Equal(owner.left.Removals, []string{path}) {
		t.Errorf("got asked again %t and %q left, want true and %s", asked, owner.left.Removals, path)
	}
}
