package locks_test

import (
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/gocurator/curator/framework/zktest"
	"github.com/gocurator/curator/recipes/locks"
)

// Thousands of leases end one after the other. One whose turn has not come compares the time by itself.
func TestALeaseIsOverBeforeItsTurnToHearOfTheEnd(t *testing.T) {
	inBubble(t, func(t *testing.T, server *zktest.Server) {
		p := newPeer(t, server)
		s, err := p.Session(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		goOn := make(chan struct{})
		if _, err := s.Bind(func(error) { <-goOn }, nil); err != nil { // before that of the lease
			t.Fatal(err)
		}
		lease := acquire(t, p.mutex())
		p.link.Cut()
		time.Sleep(sessionTimeout)
		synctest.Wait()
		select {
		case <-lease.Done():
			t.Error("got Done closed, the test needs a lease that has not heard of its end")
		default:
		}
		if err := lease.Err(); !errors.Is(err, locks.ErrLeaseLost) {
			t.Errorf("got %v after the session timeout, want a lost lease", err)
		}
		close(goOn)
		<-lease.Done()
	})
}
