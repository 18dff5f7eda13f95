package live_test

import (
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/framework/internal/clienttest"
	"github.com/gocurator/curator/framework/zktest"
)

// slack is for the suspended machine's clock, which is not the bubble's.
const slack = 5 * time.Millisecond

func TestABindingEndsAtValidUntilBeforeTheServerLetsAnyoneIn(t *testing.T) {
	for name, fault := range map[string]func(w *env){
		"mute":   func(w *env) { w.Link.Mute() },
		"cut":    func(w *env) { w.Link.Cut() },
		"frozen": func(w *env) { w.Link.SetLatency(time.Hour) },
	} {
		t.Run(name, func(t *testing.T) {
			bubble(t, func(t *testing.T, w *env) {
				w.Create("/held", framework.WithMode(framework.Ephemeral))
				h := w.Bind()
				time.Sleep(10*clienttest.SessionTimeout + time.Second)
				s := w.Session()
				gone := make(chan time.Time)
				go func() {
					for w.Server.Exists("/held") {
						time.Sleep(10 * time.Millisecond)
					}
					gone <- time.Now()
				}()
				fault(w)
				fault := time.Now()
				until := h.ValidUntil()
				if left := until.Sub(fault); left < clienttest.SessionTimeout*49/100-slack || left > clienttest.SessionTimeout*3/4 {
					t.Errorf("the hold has %v to live", left)
				}
				if got := s.ValidUntil(); !got.Equal(until) {
					t.Errorf("the session is valid until %v, the hold until %v", got, until)
				}
				w.Eventually("ended", h.Ended)
				if d := h.At.Sub(until); d < -slack || d > slack {
					t.Errorf("ended %v after ValidUntil", d)
				}
				wantErr(t, h.Cause, framework.ErrNotRenewed)
				wantErr(t, h.Err(), framework.ErrNotRenewed)
				if !h.ValidUntil().Equal(until) {
					t.Errorf("it says now that it ended at %v, not at %v", h.ValidUntil(), until)
				}
				if !h.At.Before(<-gone) {
					t.Errorf("got the binding's end at %v, after the server ended the session; want it before", h.At)
				}
				if w.States.Has(framework.StateLost) && w.States.When(t, framework.StateLost).Before(h.At) {
					t.Errorf("got state LOST before the binding's end at %v, want it after", h.At)
				}
				if h.Calls != 1 {
					t.Errorf("end was called %d times", h.Calls)
				}
			})
		})
	}
}

// A lease that was lost shows until when it was valid. A later time, such as the one that holds while nothing is lost,
// would let its owner go on.
func TestALostBindingIsValidUntilItsEndAndNoLonger(t *testing.T) {
	for name, c := range map[string]struct {
		policy framework.ErrorPolicy
		fault  func(w *env)
		want   error
	}{
		"the session expires":   {framework.SessionErrorPolicy, func(w *env) { w.Server.ExpireSession(w.Session().ID()) }, framework.ErrSessionLost},
		"the connection breaks": {framework.StandardErrorPolicy, func(w *env) { w.Link.Reset() }, framework.ErrSuspended},
		"the client is closed":  {framework.SessionErrorPolicy, func(w *env) { _ = w.Client.Close() }, framework.ErrClosed},
	} {
		t.Run(name, func(t *testing.T) {
			bubble(t, func(t *testing.T, w *env) {
				h := w.Bind()
				time.Sleep(clienttest.SessionTimeout)
				if left := time.Until(h.ValidUntil()); left < clienttest.SessionTimeout/4 {
					t.Errorf("got a binding with %v left before the fault, want a quarter of the session timeout or more", left)
				}
				c.fault(w)
				w.Eventually("ended", h.Ended)
				wantErr(t, h.Cause, c.want)
				for range 2 { // at once, and when the client may be connected again
					if d := h.ValidUntil().Sub(h.At); d < -slack || d > slack {
						t.Errorf("got a binding that says it was valid until %v after its end, want until its end", d)
					}
					time.Sleep(2 * clienttest.SessionTimeout)
				}
			}, framework.WithErrorPolicy(c.policy))
		})
	}
}

func TestABindingOutlivesAnOutageUnderTheDefaultPolicy(t *testing.T) {
	bubble(t, func(t *testing.T, w *env) {
		h := w.Bind()
		w.Link.Cut()
		time.Sleep(clienttest.SessionTimeout / 2)
		w.Link.Heal()
		w.Eventually("reconnected", func() bool { return w.Client.State() == framework.StateReconnected })
		time.Sleep(2 * clienttest.SessionTimeout)
		if h.Err() != nil || h.Ended() {
			t.Errorf("it ended: %v", h.Cause)
		}
		h.Release()
	})
}

func TestTheStandardPolicyEndsBindingsWhenTheConnectionIsLost(t *testing.T) {
	bubble(t, func(t *testing.T, w *env) {
		h := w.Bind()
		w.Link.Reset()
		w.Eventually("suspended", func() bool { return w.States.Has(framework.StateSuspended) })
		wantErr(t, h.Cause, framework.ErrSuspended)
		wantErr(t, h.Err(), framework.ErrSuspended)
		w.Eventually("reconnected", func() bool { return w.Client.State() == framework.StateReconnected })
		wantErr(t, h.Err(), framework.ErrSuspended)
		w.Bind().Release()
	}, framework.WithErrorPolicy(framework.StandardErrorPolicy))
}

// Who hears of SUSPENDED, or sees the session's Done closed, must find every hold ended. The ends themselves look,
// since they come first: a listener might be late, and see what is right by luck.
func TestBindingsEndBeforeDoneIsClosedAndBeforeTheStateChanges(t *testing.T) {
	for name, c := range map[string]struct {
		policy framework.ErrorPolicy
		fault  func(w *env)
		want   error
	}{
		"SUSPENDED under the standard policy": {
			framework.StandardErrorPolicy, func(w *env) { w.Link.Cut() }, framework.ErrSuspended,
		},
		"LOST by the servers' word": {
			framework.SessionErrorPolicy, func(w *env) { w.Server.ExpireSession(w.Session().ID()) }, framework.ErrSessionLost,
		},
		"LOST by the word of the servers, under the standard policy": {
			framework.StandardErrorPolicy, func(w *env) { w.Server.ExpireSession(w.Session().ID()) }, framework.ErrSuspended,
		},
		"Close": {
			framework.SessionErrorPolicy, func(w *env) { _ = w.Client.Close() }, framework.ErrClosed,
		},
	} {
		t.Run(name, func(t *testing.T) {
			bubble(t, func(t *testing.T, w *env) {
				const holds = 10
				s := w.Session()
				var ended atomic.Int32
				for range holds {
					if _, err := s.Bind(func(cause error) {
						ended.Add(1)
						wantErr(t, cause, c.want)
						if state := w.Client.State(); c.policy == framework.StandardErrorPolicy && !state.IsConnected() || state == framework.StateLost {
							t.Errorf("the state is %v already", state)
						}
						select {
						case <-s.Done():
							t.Error("got Done closed, want it open")
						default:
						}
					}, nil); err != nil {
						t.Fatal(err)
					}
				}
				c.fault(w)
				w.Eventually("ended", func() bool { return ended.Load() == holds })
			}, framework.WithErrorPolicy(c.policy))
		})
	}
}

func TestALapsedBindingStaysLapsedInTheSameSession(t *testing.T) {
	bubble(t, func(t *testing.T, w *env) {
		h := w.Bind()
		s := w.Session()
		time.Sleep(3 * clienttest.SessionTimeout)
		w.Link.Cut()
		w.Eventually("lapsed", h.Ended)
		w.Link.Heal()
		w.Eventually("reconnected", func() bool { return w.Client.State() == framework.StateReconnected })
		time.Sleep(2 * clienttest.SessionTimeout)
		if w.Session() != s {
			t.Fatalf("got session %v, want %v to live on", w.Session(), s)
		}
		wantErr(t, h.Err(), framework.ErrNotRenewed)
		must(t, s.BlockUntilValid(t.Context()))
		again := w.Bind() // a new one may begin
		if again.Err() != nil {
			t.Error(again.Err())
		}
		again.Release()
	})
}

func TestNoBindingBeginsInASessionThatIsNotValid(t *testing.T) {
	bubble(t, func(t *testing.T, w *env) {
		s := w.Session()
		time.Sleep(10 * clienttest.SessionTimeout) // nothing is held, so nothing is renewed
		_, err := s.Bind(func(error) { t.Error("got a binding ended that was refused, want no call") }, nil)
		wantErr(t, err, framework.ErrNotRenewed)
		must(t, s.BlockUntilValid(w.Within(time.Second)))
		h, err := s.Bind(func(error) {}, nil)
		must(t, err)
		h.Release()
		w.Server.ExpireSession(s.ID())
		<-s.Done()
		_, err = s.Bind(func(error) { t.Error("got a binding ended that was refused, want no call") }, nil)
		wantErr(t, err, framework.ErrSessionLost)
		wantErr(t, s.BlockUntilValid(t.Context()), framework.ErrSessionLost)
	})
}

func TestAReleasedBindingHearsOfNoEnd(t *testing.T) {
	bubble(t, func(t *testing.T, w *env) {
		h := w.Bind()
		h.Release()
		h.Release()
		w.Server.ExpireSession(w.Session().ID())
		w.Eventually("lost", func() bool { return w.States.Has(framework.StateLost) })
		if h.Ended() {
			t.Error("got a released binding ended, want no call")
		}
	})
}

func TestBindingsEndBeforeListenersHearOfLost(t *testing.T) {
	zktest.Bubble(t, func(t *testing.T) {
		var w *env
		var h *clienttest.Bound
		w = newEnv(t, framework.WithStateListener(func(now framework.StateChange) {
			if now.State == framework.StateLost && !h.Ended() {
				t.Error("got LOST at a listener before the binding's end, want it after")
			}
		}))
		w.Connected()
		h = w.Bind()
		s := w.Session()
		w.Server.ExpireSession(s.ID())
		<-s.Done()
		if !h.Ended() {
			t.Error("got Done closed before the binding's end, want it after")
		}
		wantErr(t, h.Cause, framework.ErrSessionLost)
		w.Eventually("lost", func() bool { return w.States.Has(framework.StateLost) })
	})
}

func TestRenewalsComeEveryQuarterAndOnlyWhileSomethingDependsOnThem(t *testing.T) {
	for name, c := range map[string]struct {
		opts []framework.Option
		op   zktest.Op // the request that renews leases
	}{
		"by a majority": {nil, zktest.OpMulti},
		"by the leader": {[]framework.Option{framework.WithSyncRenewal()}, zktest.OpSync},
	} {
		t.Run(name, func(t *testing.T) {
			bubble(t, func(t *testing.T, w *env) {
				w.Make("/a")
				sent := func(op zktest.Op, d time.Duration) (wanted, other int) {
					before := w.Server.Counts()
					time.Sleep(d)
					synctest.Wait()
					after := w.Server.Counts()
					both := after[zktest.OpSync] - before[zktest.OpSync] + after[zktest.OpMulti] - before[zktest.OpMulti]
					return after[op] - before[op], both - (after[op] - before[op])
				}
				none := func(what string) {
					t.Helper()
					if n, other := sent(c.op, 10*clienttest.SessionTimeout); n+other != 0 {
						t.Errorf("%d renewals %s", n+other, what)
					}
				}
				none("with nothing held or watched")
				must(t, w.Session().BlockUntilValid(t.Context()))
				h := w.Bind()
				if n, other := sent(c.op, 10*clienttest.SessionTimeout-time.Second); n < 39 || n > 40 || other != 0 {
					t.Errorf("%d and %d renewals of a hold in ten timeouts, want 40 and none", n, other)
				}
				h.Release()
				sent(c.op, clienttest.SessionTimeout)
				none("after the release")
				o := w.watchData("/a")
				if n, other := sent(zktest.OpSync, 10*clienttest.SessionTimeout-time.Second); n < 39 || n > 41 || other != 0 {
					t.Errorf("%d and %d for a watch in ten timeouts, want 40 and none", n, other)
				}
				o.stop()
				sent(c.op, clienttest.SessionTimeout)
				none("after that")
			}, c.opts...)
		})
	}
}

func TestAWriteRenewsAsWell(t *testing.T) {
	bubble(t, func(t *testing.T, w *env) {
		w.Make("/a")
		h := w.Bind()
		before := w.Count(zktest.OpSync) + w.Count(zktest.OpMulti)
		for range 100 {
			time.Sleep(time.Second)
			if _, err := w.Client.Set(t.Context(), "/a", nil, -1); err != nil {
				t.Fatal(err)
			}
		}
		if n := w.Count(zktest.OpSync) + w.Count(zktest.OpMulti) - before; n != 0 {
			t.Errorf("%d renewals besides a write a second", n)
		}
		if h.Err() != nil {
			t.Error(h.Err())
		}
		h.Release()
	})
}
