package lead_test

import (
	"testing"
	"time"

	"github.com/gocurator/curator/framework/zktest"
)

// No server answers for an hour, which ends every session, also that of a standby.
func TestStandbyOutlastsALongOutage(t *testing.T) {
	zktest.Bubble(t, func(t *testing.T) {
		server := zktest.New(t)
		a, b := stand(t, server, "a", false), stand(t, server, "b", false)
		a.until(true)
		a.link.Cut()
		b.link.Cut()
		time.Sleep(time.Hour)
		select {
		case err := <-b.ended:
			t.Fatalf("the standby has ended: %v", err)
		default:
		}
		if got := b.Answer(); got.Leading || got.Connected {
			t.Errorf("cut off, got %+v, want that it knows", got)
		}
		b.link.Heal()
		b.until(true)
	})
}

// No server confirms the release of a term that has lasted longer than the retry policy of zklock does.
func TestLeaderThatIsAskedToLeaveInAnOutageStandsAgain(t *testing.T) {
	zktest.Bubble(t, func(t *testing.T) {
		server := zktest.New(t)
		a, b := stand(t, server, "a", true), stand(t, server, "b", false)
		a.until(true)
		time.Sleep(time.Minute)
		a.until(true)
		b.revoke()
		a.link.Cut() // before the last yes has run out
		b.until(true)
		time.Sleep(5 * time.Minute)
		a.link.Heal()
		time.Sleep(time.Minute)
		b.stop(nil)
		a.until(true)
	})
}
