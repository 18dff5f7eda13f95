package leader

import (
	"testing"

	"github.com/gocurator/curator/framework"
)

// The end of the inner term was not noted yet: the selector leads by the outer one.
func TestHasLeadershipLooksAtEachTerm(t *testing.T) {
	inLatchTest(t, func(t *testing.T, client *framework.Client) {
		s := NewLeaderSelector(client, "/leaders")
		outer, err := s.Campaign(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		inner, err := s.Campaign(outer.Context(t.Context()))
		if err != nil {
			t.Fatal(err)
		}
		if err := inner.Release(); err != nil {
			t.Error(err)
		}
		for range 20 { // in any order
			s.mu.Lock()
			s.terms[inner] = struct{}{}
			s.mu.Unlock()
			if !s.HasLeadership() {
				t.Fatal("got a selector that does not lead, want one that leads by its outer term")
			}
		}
		if err := outer.Release(); err != nil {
			t.Error(err)
		}
	})
}
