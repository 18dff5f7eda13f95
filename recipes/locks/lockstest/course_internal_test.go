package lockstest

import (
	"testing"
	"time"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/framework/zktest"
	"github.com/gocurator/curator/recipes/locks"
)

func TestCourseIsVoidOnlyIfTheMachineRobbedAClient(t *testing.T) {
	const timeout = 4 * time.Second
	for _, c := range []struct {
		name             string
		violated, robbed bool
		stall            time.Duration
		want             bool
	}{
		{"a stall that cost a lease", false, true, time.Second, true},
		{"a lease lost without a stall", false, true, 100 * time.Millisecond, false},
		{"a stall that cost nothing", false, false, time.Second, false},
		{"what must hold on any machine", true, true, time.Second, false},
	} {
		if got := (&course{violated: c.violated}).isVoid(c.robbed, c.stall, timeout); got != c.want {
			t.Errorf("%s: got void %t, want %t", c.name, got, c.want)
		}
	}
}

func TestFailureThatHoldsOnAnyMachineIsKept(t *testing.T) {
	for name, fail := range map[string]func(c *course, w *world){
		"too many in the lock": func(c *course, _ *world) { (&room{wrong: true}).check(c, 0) },
		"a node that stays":    func(_ *course, w *world) { w.leavesNothing("it is gone", func() bool { return false }) },
		"a lease that overlaps the next": func(_ *course, w *world) {
			lease := w.client().start(w.client().lock()).get()
			w.pass(time.Second)
			seen := w.watch(lease)
			if err := lease.Release(); err != nil {
				w.t.Error(err)
			}
			seen.before(time.Now().Add(-time.Hour))
		},
	} {
		t.Run(name, func(t *testing.T) {
			InMemory{}.Run(t, func(t *testing.T, server Server) {
				c := &course{TB: t}
				c.run(server, Recipes()[0], law{run: func(_ testing.TB, w *world) { fail(c, w) }})
				if !c.failed || !c.violated {
					t.Errorf("got failed %t, violated %t, want both: %q", c.failed, c.violated, c.failures)
				}
			})
		})
	}
}

// A law that costs a client its session does not make its own failures void.
func TestOnlyLossesThatALawDidNotCauseAreTheMachines(t *testing.T) {
	for _, c := range []struct {
		name string
		do   func(w *world, c *contact, session int64)
		want bool
	}{
		{"nothing is done", func(*world, *contact, int64) {}, false},
		{"the server ends the session by itself", func(w *world, c *contact, session int64) {
			w.record.journal.Kill(session)
			w.server.ExpireSession(c.link, session)
		}, true},
		{"the law ends the session", func(_ *world, c *contact, _ int64) { c.expire() }, false},
		{"the law cuts the link", func(_ *world, c *contact, _ int64) { c.link.Cut() }, false},
		{"the law mutes the link", func(_ *world, c *contact, _ int64) { c.link.Mute() }, false},
		{"the law suspends the client", func(w *world, c *contact, _ int64) {
			c.link.Suspend()
			w.pass(2 * w.server.SessionTimeout())
			c.link.Resume()
		}, false},
		{"the law ends one session, the server the next", func(w *world, c *contact, _ int64) {
			c.expire()
			w.pass(w.server.SessionTimeout())
			w.server.ExpireSession(c.link, c.session())
		}, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			InMemory{}.Run(t, func(t *testing.T, server Server) {
				of := &course{TB: t}
				w := of.run(server, Recipes()[0], law{run: func(_ testing.TB, w *world) {
					client := w.client()
					client.start(client.lock()).get()
					c.do(w, client, client.session())
					w.pass(3 * w.server.SessionTimeout())
				}})
				if got := w.robbed.Load(); got != c.want || of.failed {
					t.Errorf("got robbed %t, want %t; failures %q", got, c.want, of.failures)
				}
			})
		})
	}
}

// A guest whose lease has ended may still be inside when the next one enters.
func TestRoomCountsLeasesThatLast(t *testing.T) {
	zktest.Bubble(t, func(t *testing.T) {
		server := zktest.NewServer()
		defer server.Close()
		hold := func(path string) *locks.Lease {
			client, err := framework.NewClient("zktest:2181", framework.WithDialer(server.DialContext))
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { client.Close() })
			lease, err := locks.NewInterProcessMutex(client, path).Acquire(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			return lease
		}
		over, lasting, another := hold("/a"), hold("/b"), hold("/c")
		r := &room{capacity: 1}
		r.enter(over, false)
		if err := over.Release(); err != nil {
			t.Fatal(err)
		}
		if r.enter(lasting, false); r.wrong {
			t.Error("got too many with one lease that lasts, want no fault")
		}
		if r.enter(another, false); !r.wrong {
			t.Error("got no fault with two leases that last, want too many")
		}
	})
}
