package locks

import (
	"testing"
	"time"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/framework/zktest"
)

// The session may cease to be valid between the grants of one batch. What was granted by then goes back, with its node
// and its hold.
func TestABatchThatWasAdmittedInPartGivesBackWhatItHad(t *testing.T) {
	zktest.Bubble(t, func(t *testing.T) {
		server := zktest.New(t)
		client, err := framework.NewClient("zktest:2181", framework.WithDialer(server.DialContext))
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = client.Close() }()
		session, err := client.Session(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		s := NewInterProcessSemaphoreV2(client, "/s", 3)
		gate, err := s.enterGate(t.Context(), session)
		if err != nil {
			t.Fatal(err)
		}
		defer gate.Leave()
		b := batch{semaphore: s, session: session, gate: gate}
		for range 3 {
			if err := b.add(t.Context()); err != nil {
				t.Fatal(err)
			}
		}
		for _, c := range b.members[:2] {
			if err := c.Admit(); err != nil || c.Grant == nil {
				t.Fatalf("%v, %v", c.Grant, err)
			}
		}
		if !s.IsAcquiredInThisProcess() {
			t.Fatal("got a semaphore that is not held with two grants, want it held")
		}
		b.leave()
		if s.IsAcquiredInThisProcess() {
			t.Error("got a semaphore that is held after its grants were given back, want it free")
		}
		time.Sleep(time.Second)
		if left := server.Children("/s/leases"); len(left) != 0 {
			t.Errorf("there are still %q", left)
		}
		for _, c := range b.members[:2] {
			if err := c.Grant.Err(); err == nil {
				t.Error("got a grant that lasts after it was given back, want it ended")
			}
		}
		if n := server.WatchCount(); n > 0 {
			t.Errorf("%d watches are left", n)
		}
	})
}
