package queue

import (
	"testing"
	"time"

	"github.com/gocurator/curator/framework/zktest"
)

// A process that stood still finds that the wait has doubled several times.
func TestLongWaitThatIsNoticedLateIsReportedOnce(t *testing.T) {
	zktest.Bubble(t, func(t *testing.T) {
		var l LongWait
		defer l.Stop()
		began, signals := time.Now(), make(chan time.Duration, 10)
		l.Start(time.Second, func() { signals <- time.Since(began) })
		time.Sleep(9 * time.Second)
		<-signals
		for i, want := range []time.Duration{16 * time.Second, 32 * time.Second, 64 * time.Second} {
			if waited, long, first := l.Check(); !long || first != (i == 0) {
				t.Errorf("after %v: got a report %t, the first %t; want one, the first %t", waited, long, first, i == 0)
			}
			if got := <-signals; got != want {
				t.Errorf("got the next signal after %v, want it after %v", got, want)
			}
		}
	})
}
