package framework_test

import (
	"slices"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/framework/internal/clienttest"
	"github.com/gocurator/curator/framework/zktest"
)

const (
	connected   = framework.StateConnected
	suspended   = framework.StateSuspended
	reconnected = framework.StateReconnected
	lost        = framework.StateLost
)

func TestListenersHearEveryStateInOrder(t *testing.T) {
	bubble(t, func(t *testing.T, w *env) {
		var others [5]clienttest.States
		for i := range others {
			w.Client.OnStateChange(others[i].Hear)
		}
		for range 20 {
			w.Link.Reset()
			w.Eventually("reconnected", func() bool { return w.Client.State() == reconnected })
		}
		w.Server.ExpireSession(w.Session().ID())
		w.Eventually("a new session", func() bool { return w.States.Has(lost) && w.Client.State() == reconnected })

		want := []framework.State{connected}
		for range 20 {
			want = append(want, suspended, reconnected)
		}
		want = append(want, suspended, lost, reconnected)
		w.States.Want(t, want...)
		for i := range others {
			others[i].Want(t, want...)
		}
	})
}

func TestASlowListenerHoldsUpNobodyAndMissesNothing(t *testing.T) {
	bubble(t, func(t *testing.T, w *env) {
		var slow clienttest.States
		w.Client.OnStateChange(func(change framework.StateChange) {
			time.Sleep(time.Hour)
			slow.Hear(change)
		})
		for range 3 {
			w.Link.Reset()
			w.Eventually("reconnected", func() bool { return w.Client.State() == reconnected })
		}
		synctest.Wait()
		w.States.Want(t, connected, suspended, reconnected, suspended, reconnected, suspended, reconnected)
		time.Sleep(8 * time.Hour)
		slow.Want(t, w.States.All()...)
	})
}

func TestANewListenerHearsThePresentStateFirst(t *testing.T) {
	bubble(t, func(t *testing.T, w *env) {
		w.Link.Cut()
		w.Eventually("suspended", func() bool { return w.Client.State() == suspended })
		var late clienttest.States
		w.Client.OnStateChange(late.Hear)
		w.Link.Heal()
		w.Eventually("reconnected", func() bool { return w.Client.State() == reconnected })
		late.Want(t, suspended, reconnected)
	})
}

func TestAListenerBeforeTheFirstConnectionDoesNotHearOfLatent(t *testing.T) {
	zktest.Bubble(t, func(t *testing.T) {
		w := newEnv(t)
		var early clienttest.States
		w.Client.OnStateChange(early.Hear)
		w.Connected()
		early.Want(t, connected)
	})
}

func TestAStoppedListenerHearsNoMore(t *testing.T) {
	bubble(t, func(t *testing.T, w *env) {
		var gone clienttest.States
		stop := w.Client.OnStateChange(gone.Hear)
		synctest.Wait()
		stop()
		stop()
		w.Link.Reset()
		w.Eventually("reconnected", func() bool { return w.Client.State() == reconnected })
		gone.Want(t, connected)
	})
}

func TestCloseFromAListenerDoesNotDeadlock(t *testing.T) {
	bubble(t, func(t *testing.T, w *env) {
		var done atomic.Bool
		w.Client.OnStateChange(func(framework.StateChange) {
			wantErr(t, w.Client.Close())
			done.Store(true)
		})
		synctest.Wait()
		if !done.Load() {
			t.Error("got Close still running, want it returned")
		}
		wantErr(t, w.Client.Close())
	})
}

func TestAListenerMayUseTheClient(t *testing.T) {
	bubble(t, func(t *testing.T, w *env) {
		var seen atomic.Bool
		w.Client.OnStateChange(func(framework.StateChange) {
			_, _, err := w.Client.Create(t.Context(), "/from-a-listener", nil)
			seen.Store(err == nil)
		})
		synctest.Wait()
		if !seen.Load() || !w.Server.Exists("/from-a-listener") {
			t.Errorf("got the listener's create done: %t, node there: %t; want both",
				seen.Load(), w.Server.Exists("/from-a-listener"))
		}
	})
}

func TestBlockUntilConnectedReturnsWithTheStateConnected(t *testing.T) {
	for range 50 {
		zktest.Bubble(t, func(t *testing.T) {
			w := newEnv(t)
			must(t, w.Client.BlockUntilConnected(t.Context()))
			if s := w.Client.State(); s != connected {
				t.Errorf("connected, but the state is %v", s)
			}
		})
	}
}

func TestASuspendedClientIsReconnectedToTheSameSession(t *testing.T) {
	bubble(t, func(t *testing.T, w *env) {
		before := w.Session()
		w.Create("/e", framework.WithMode(framework.Ephemeral))
		w.Link.Cut()
		time.Sleep(clienttest.SessionTimeout / 2)
		w.Link.Heal()
		w.Eventually("reconnected", func() bool { return w.Client.State() == reconnected })
		if after := w.Session(); after != before || before.Err() != nil {
			t.Errorf("session %#x became %#x, and its error is %v", before.ID(), after.ID(), before.Err())
		}
		if !w.Server.Exists("/e") {
			t.Error("got no /e, want the ephemeral node kept")
		}
		w.States.Want(t, connected, suspended, reconnected)
	})
}

func TestLostComesAtTheEndOfTheTimeoutAfterTheLastContact(t *testing.T) {
	bubble(t, func(t *testing.T, w *env) {
		time.Sleep(5 * clienttest.SessionTimeout) // pings only
		s := w.Session()
		last := time.Now().Truncate(time.Millisecond)
		if _, err := w.Client.Exists(t.Context(), "/"); err != nil {
			t.Fatal(err)
		}
		w.Link.Mute()
		w.Eventually("lost", func() bool { return w.States.Has(lost) })
		if d := w.States.When(t, lost).Sub(last); d < clienttest.SessionTimeout || d > clienttest.SessionTimeout+5*time.Millisecond {
			t.Errorf("lost %v after the last contact, want %v", d, clienttest.SessionTimeout)
		}
		wantErr(t, s.Err(), framework.ErrSessionLost)
		w.Link.Heal()
		w.Eventually("a new session", func() bool { return w.Client.State() == reconnected })
		w.States.Want(t, connected, suspended, lost, reconnected)
		if w.Session().ID() == s.ID() {
			t.Errorf("got session %#x again, want another", s.ID())
		}
	})
}

func TestASessionThatTheServerEndedIsLostAtOnce(t *testing.T) {
	bubble(t, func(t *testing.T, w *env) {
		s := w.Session()
		w.Server.ExpireSession(s.ID())
		<-s.Done()
		wantErr(t, s.Err(), framework.ErrSessionLost)
		w.Eventually("a new session", func() bool { return w.Client.State() == reconnected })
		if i := slices.Index(w.States.All(), lost); i < 0 {
			t.Errorf("heard %v", w.States.All())
		}
	})
}

func TestAServerThatIsRestartedGetsItsClientsBack(t *testing.T) {
	bubble(t, func(t *testing.T, w *env) {
		s := w.Session()
		w.Server.Restart()
		w.Eventually("reconnected", func() bool { return w.Client.State() == reconnected })
		if w.Session() != s {
			t.Errorf("got session %v, want %v", w.Session(), s)
		}
	})
}

func TestNeitherStopNorCloseWaitsForAListener(t *testing.T) {
	bubble(t, func(t *testing.T, w *env) {
		var calls [2]atomic.Int64
		var stops [2]func()
		for i := range stops {
			stops[i] = w.Client.OnStateChange(func(framework.StateChange) {
				calls[i].Add(1)
				time.Sleep(time.Hour)
			})
		}
		w.Link.Reset()
		w.Eventually("reconnected", func() bool { return w.Client.State() == reconnected })
		before := time.Now()
		stops[0]()
		wantErr(t, w.Client.Close())
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

func TestAStateChangeSaysWhatItIsAbout(t *testing.T) {
	zktest.Bubble(t, func(t *testing.T) {
		w := newEnv(t)
		var heard, late []framework.StateChange
		w.Client.OnStateChange(func(change framework.StateChange) {
			heard = append(heard, change)
			time.Sleep(time.Hour) // the time is that of the change
		})
		w.Connected()
		first, began := w.Session().ID(), time.Now()
		w.Link.Reset()
		w.Eventually("reconnected", func() bool { return w.Client.State() == reconnected })
		w.Server.ExpireSession(first)
		w.Eventually("a new session", func() bool { return w.States.Has(lost) && w.Client.State() == reconnected })
		w.Client.OnStateChange(func(change framework.StateChange) { late = append(late, change) })
		second, end := w.Session().ID(), time.Now()
		time.Sleep(10 * time.Hour)

		want := []framework.StateChange{
			{State: connected, Previous: framework.StateLatent, SessionID: first},
			{State: suspended, Previous: connected, SessionID: first},
			{State: reconnected, Previous: suspended, SessionID: first},
			{State: suspended, Previous: reconnected, SessionID: first},
			{State: lost, Previous: suspended, SessionID: first},
			{State: reconnected, Previous: lost, SessionID: second},
		}
		if len(heard) != len(want) || len(late) != 1 || late[0] != heard[len(heard)-1] {
			t.Fatalf("got %+v, and %+v at a late listener; want %d changes, and the last", heard, late, len(want))
		}
		for i, got := range heard {
			if got.Time.Before(began.Add(-time.Second)) || got.Time.After(end) {
				t.Errorf("change %d: got time %v, want that of the change, from %v to %v", i, got.Time, began, end)
			}
			if (got.Err == nil) != got.State.IsConnected() || got.Server != "zk:2181" {
				t.Errorf("change %d: got server %q, error %v; want zk:2181, and an error unless connected", i, got.Server, got.Err)
			}
			if got.State == lost {
				wantErr(t, got.Err, framework.ErrSessionLost)
			}
			got.Time, got.Server, got.Err = time.Time{}, "", nil
			if got != want[i] {
				t.Errorf("change %d: got %+v, want %+v", i, got, want[i])
			}
		}
	})
}
