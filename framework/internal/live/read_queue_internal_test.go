package live

import (
	"testing"

	"github.com/gocurator/curator/framework/session"
	"github.com/gocurator/curator/framework/zktest"
)

// A server that hangs keeps the queue as it is, while ReadManys with short contexts come and go.
func TestAReadManyThatEndsWhileItWaitsLeavesTheQueue(t *testing.T) {
	zktest.Bubble(t, func(t *testing.T) {
		s, _ := unconnected()
		q := &s.session.reads
		first := q.begin([]string{"/first"}, session.ReadData)
		q.mu.Lock()
		q.window.underWay = 1 // another ReadMany has the slot
		q.mu.Unlock()
		first.take()
		for range 3 {
			r := q.begin([]string{"/other"}, session.ReadData)
			r.take()
			r.end()
		}
		q.mu.Lock()
		defer q.mu.Unlock()
		if len(q.waiting) != 1 || q.waiting[0] != first || q.readings != 1 {
			t.Errorf("got %d in the queue and %d ReadManys, want the first alone", len(q.waiting), q.readings)
		}
	})
}
