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
