package session

import (
	"fmt"
	"testing"
	"time"

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
			s.noteRefusal(path, &Removal{})
			moments[s.refusals[path].due]++
			time.Sleep(s.leases.timeout / removals)
		}
		if len(moments) > 17 {
			t.Errorf("got %d moments for %d removals, want at most 17", len(moments), removals)
		}
	})
}
