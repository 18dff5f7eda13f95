package framework_test

import (
	"slices"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/framework/zktest"
)

const (
	connected   = framework.StateConnected
	suspended   = framework.StateSuspended
	reconnected = framework.StateReconnected
	lost        = framework.StateLost
)

func TestListenersHearEveryStateInOrder(t *testing.T) {
	bubble(t, func(t *testing.T, w *world) {
		var others [5]states
		for i := range others {
			w.client.OnStateChange(others[i].hear)
		}
		for range 20 {
			w.link.Reset()
			w.eventually("reconnected", func() bool { return w.client.State() == reconnected })
		}
		w.srv.ExpireSession(w.session().ID())
		w.eventually("a new session", func() bool { return w.states.has(lost) && w.client.State() == reconnected })

		want := []framework.State{connected}
		for range 20 {
			want = append(want, suspended, reconnected)
		}
		want = append(want, suspended, lost, reconnected)
		w.states.want(t, want...)
		for i := range others {
			others[i].want(t, want...)
		}
	})
}

func TestASlowListenerHoldsUpNobodyAndMissesNothing(t *testing.T) {
	bubble(t, func(t *testing.T, w *world) {
		var slow states
		w.client.OnStateChange(func(s framework.State) {
			time.Sleep(time.Hour)
			slow.hear(s)
		})
		for range 3 {
			w.link.Reset()
			w.eventually("reconnected", func() bool { return w.client.State() == reconnected })
		}
		synctest.Wait()
		w.states.want(t, connected, suspended, reconnected, suspended, reconnected, suspended, reconnected)
		time.Sleep(8 * time.Hour)
		slow.want(t, w.states.all()...)
	})
}

func TestANewListenerHearsThePresentStateFirst(t *testing.T) {
	bubble(t, func(t *testing.T, w *world) {
		w.link.Cut()
		w.eventually("suspended", func() bool { return w.client.State() == suspended })
		var late states
		w.client.OnStateChange(late.hear)
		w.link.Heal()
		w.eventually("reconnected", func() bool { return w.client.State() == reconnected })
		late.want(t, suspended, reconnected)
	})
}

func TestAListenerBeforeTheFirstConnectionIsNotToldOfLatent(t *testing.T) {
	zktest.Bubble(t, func(t *testing.T) {
		w := newWorld(t)
		var early states
		w.client.OnStateChange(early.hear)
		w.connected()
		early.want(t, connected)
	})
}

func TestAStoppedListenerHearsNoMore(t *testing.T) {
	bubble(t, func(t *testing.T, w *world) {
		var gone states
		stop := w.client.OnStateChange(gone.hear)
		synctest.Wait()
		stop()
		stop()
		w.link.Reset()
		w.eventually("reconnected", func() bool { return w.client.State() == reconnected })
		gone.want(t, connected)
	})
}

func TestCloseFromAListenerDoesNotDeadlock(t *testing.T) {
	bubble(t, func(t *testing.T, w *world) {
		var done atomic.Bool
		w.client.OnStateChange(func(framework.State) {
			if err := w.client.Close(); err != nil {
				t.Error(err)
			}
			done.Store(true)
		})
		synctest.Wait()
		if !done.Load() {
			t.Error("Close has not returned")
		}
		if err := w.client.Close(); err != nil {
			t.Error(err)
		}
	})
}

func TestAListenerMayUseTheClient(t *testing.T) {
	bubble(t, func(t *testing.T, w *world) {
		var seen atomic.Bool
		w.client.OnStateChange(func(framework.State) {
			_, _, err := w.client.Create(t.Context(), "/from-a-listener", nil)
			seen.Store(err == nil)
		})
		synctest.Wait()
		if !seen.Load() || !w.srv.Exists("/from-a-listener") {
			t.Error("the node was not created")
		}
	})
}

func TestWhoeverIsConnectedFindsTheStateTold(t *testing.T) {
	for range 50 {
		zktest.Bubble(t, func(t *testing.T) {
			w := newWorld(t)
			if err := w.client.BlockUntilConnected(t.Context()); err != nil {
				t.Fatal(err)
			}
			if s := w.client.State(); s != connected {
				t.Errorf("connected, but the state is %v", s)
			}
		})
	}
}

func TestASuspendedClientIsReconnectedToTheSameSession(t *testing.T) {
	bubble(t, func(t *testing.T, w *world) {
		before := w.session()
		w.create("/e", framework.WithMode(framework.Ephemeral))
		w.link.Cut()
		time.Sleep(session / 2)
		w.link.Heal()
		w.eventually("reconnected", func() bool { return w.client.State() == reconnected })
		if after := w.session(); after != before || before.Err() != nil {
			t.Errorf("session %#x became %#x, and its error is %v", before.ID(), after.ID(), before.Err())
		}
		if !w.srv.Exists("/e") {
			t.Error("the ephemeral node is gone")
		}
		w.states.want(t, connected, suspended, reconnected)
	})
}

func TestLostComesAtTheEndOfTheTimeoutAfterTheLastContact(t *testing.T) {
	bubble(t, func(t *testing.T, w *world) {
		time.Sleep(5 * session) // pings only
		s := w.session()
		last := time.Now().Truncate(time.Millisecond)
		if _, err := w.client.Exists(t.Context(), "/"); err != nil {
			t.Fatal(err)
		}
		w.link.Mute()
		w.eventually("lost", func() bool { return w.states.has(lost) })
		if d := w.states.when(t, lost).Sub(last); d < session || d > session+5*time.Millisecond {
			t.Errorf("lost %v after the last contact, want %v", d, session)
		}
		wantErr(t, s.Err(), framework.ErrSessionLost)
		w.link.Heal()
		w.eventually("a new session", func() bool { return w.client.State() == reconnected })
		w.states.want(t, connected, suspended, lost, reconnected)
		if w.session().ID() == s.ID() {
			t.Error("the new session is the old one")
		}
	})
}

func TestASessionThatTheServerEndedIsLostAtOnce(t *testing.T) {
	bubble(t, func(t *testing.T, w *world) {
		s := w.session()
		w.srv.ExpireSession(s.ID())
		<-s.Done()
		wantErr(t, s.Err(), framework.ErrSessionLost)
		w.eventually("a new session", func() bool { return w.client.State() == reconnected })
		if i := slices.Index(w.states.all(), lost); i < 0 {
			t.Errorf("heard %v", w.states.all())
		}
	})
}

func TestAServerThatIsRestartedGetsItsClientsBack(t *testing.T) {
	bubble(t, func(t *testing.T, w *world) {
		s := w.session()
		w.srv.Restart()
		w.eventually("reconnected", func() bool { return w.client.State() == reconnected })
		if w.session() != s {
			t.Error("there is another session")
		}
	})
}

func TestNeitherStopNorCloseWaitsForAListener(t *testing.T) {
	bubble(t, func(t *testing.T, w *world) {
		var calls [2]atomic.Int64
		var stops [2]func()
		for i := range stops {
			stops[i] = w.client.OnStateChange(func(framework.State) {
				calls[i].Add(1)
				time.Sleep(time.Hour)
			})
		}
		w.link.Reset()
		w.eventually("reconnected", func() bool { return w.client.State() == reconnected })
		before := time.Now()
		stops[0]()
		if err := w.client.Close(); err != nil {
			t.Error(err)
		}
		if took := time.Since(before); took != 0 {
			t.Errorf("stop and Close took %v", took)
		}
		time.Sleep(10 * time.Hour)
		for i := range calls {
			if n := calls[i].Load(); n != 1 {
				t.Errorf("listener %d was called %d times, want once: it has been stopped", i, n)
			}
		}
	})
}
