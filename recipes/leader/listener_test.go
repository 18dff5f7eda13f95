package leader_test

import (
	"errors"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/framework/zktest"
	"github.com/gocurator/curator/recipes/leader"
	"github.com/gocurator/curator/recipes/locks"
)

// The listener is busy while the latch gains and loses the leadership many times.
func TestSlowListenerHearsEachChange(t *testing.T) {
	inBubble(t, func(t *testing.T, server *zktest.Server) {
		l := start(t, newPeer(t, server).latch())
		var heard []*locks.Lease
		l.OnChange(func(term *locks.Lease) {
			time.Sleep(time.Minute)
			heard = append(heard, term)
		})
		const terms = 5
		var want []*locks.Lease
		for range terms {
			term := awaitTerm(t, l)
			want = append(want, term, nil)
			wantErr(t, term.Release(), nil)
			synctest.Wait()
		}
		want = append(want, awaitTerm(t, l), nil)
		begun := time.Now()
		wantErr(t, l.Close(), nil)
		if took := time.Since(begun); took != 0 {
			t.Errorf("Close waits %v for the listener", took)
		}
		time.Sleep(time.Hour)
		if len(heard) != len(want) {
			t.Fatalf("heard %d changes, want %d", len(heard), len(want))
		}
		for i := range want {
			if heard[i] != want[i] {
				t.Errorf("change %d: got %v, want %v", i, heard[i], want[i])
			}
		}
	})
}

func TestListenerMayUseTheLatchAndPanic(t *testing.T) {
	inBubble(t, func(t *testing.T, server *zktest.Server) {
		l := start(t, newPeer(t, server).latch())
		awaitTerm(t, l)
		told := 0
		l.OnChange(func(*locks.Lease) {
			told++
			if told == 1 {
				panic("a listener")
			}
			runtime.Goexit()
		})
		l.OnChange(func(term *locks.Lease) { // the present term first
			if term != nil {
				wantErr(t, l.Close(), nil)
			}
		})
		synctest.Wait()
		wantNodes(t, server, 0)
		if told != 2 {
			t.Errorf("got %d calls, want 2", told)
		}
	})
}

// A change is what a listener has heard, and when.
type change struct {
	leads bool
	at    time.Time
}

// hear returns what a listener of l has heard so far.
func hear(l *leader.LeaderLatch) (heard func() []change) {
	var mu sync.Mutex
	var all []change
	l.OnChange(func(term *locks.Lease) {
		mu.Lock()
		defer mu.Unlock()
		all = append(all, change{leads: term != nil, at: time.Now()})
	})
	return func() []change {
		synctest.Wait()
		mu.Lock()
		defer mu.Unlock()
		return slices.Clone(all)
	}
}

func wantEnd(t *testing.T, heard []change, at time.Time) {
	t.Helper()
	if len(heard) != 2 || !heard[0].leads || heard[1].leads || !heard[1].at.Equal(at) {
		t.Errorf("heard %v, want a term, and its end at %v", heard, at)
	}
}

// The removal is not answered in an outage. The next participant may lead long before Close gives up waiting for it.
func TestListenersHearOfCloseAtOnceInAnOutage(t *testing.T) {
	inBubble(t, func(t *testing.T, server *zktest.Server) {
		p := newPeer(t, server)
		l := start(t, p.latch())
		awaitTerm(t, l)
		heard := hear(l)
		heard()
		p.link.Mute()
		began := time.Now()
		var failed *locks.ReleaseError
		if err := l.Close(); !errors.As(err, &failed) || time.Since(began) != p.ConnectionTimeout() {
			t.Errorf("Close: got %v after %v, want a ReleaseError after %v", err, time.Since(began), p.ConnectionTimeout())
		}
		wantEnd(t, heard(), began)
		wantErr(t, l.Close(), nil)
	})
}

// A round trip later the next participant may lead: its listeners must not hear of their term before these hear of the
// end.
func TestListenersHearOfTheEndBeforeTheNodeIsRemoved(t *testing.T) {
	for name, end := range map[string]func(l *leader.LeaderLatch, term *locks.Lease) error{
		"Close":   func(l *leader.LeaderLatch, _ *locks.Lease) error { return l.Close() },
		"Release": func(_ *leader.LeaderLatch, term *locks.Lease) error { return term.Release() },
	} {
		inBubble(t, func(t *testing.T, server *zktest.Server) {
			p := newPeer(t, server)
			l := start(t, p.latch())
			term := awaitTerm(t, l)
			var ended atomic.Bool
			l.OnChange(func(now *locks.Lease) {
				if ended.Store(now == nil); now == nil && term.Err() == nil {
					t.Errorf("%s: got the end of a term that goes on", name)
				}
			})
			synctest.Wait()
			p.link.SetLatency(time.Millisecond)
			removed := false
			defer server.Observe(func(r zktest.Request) {
				if r.Op == zktest.OpDelete {
					if removed = true; !ended.Load() || term.Err() == nil || name == "Close" && l.HasLeadership() {
						t.Errorf("%s: the node is removed: listener called: %t, term: %v, leads: %t", name, ended.Load(), term.Err(), l.HasLeadership())
					}
				}
			})()
			wantErr(t, end(l, term), nil)
			if !removed {
				t.Errorf("%s: got no removal, want one", name)
			}
			wantErr(t, l.Close(), nil)
		})
	}
}

func TestListenersHearOfALossWhenTheTermEnds(t *testing.T) {
	inBubble(t, func(t *testing.T, server *zktest.Server) {
		p := newPeer(t, server)
		l := start(t, p.latch())
		term := awaitTerm(t, l)
		heard := hear(l)
		heard()
		p.link.Mute()
		soon(t, term.Done())
		wantEnd(t, heard(), time.Now())
	})
}

// The servers lack the chroot for an hour, in which the latch campaigns again and again.
func TestListenersHearNothingOfCampaignsThatFail(t *testing.T) {
	inBubble(t, func(t *testing.T, server *zktest.Server) {
		var l *leader.LeaderLatch
		var heard func() []change
		wants := func(when string, want ...bool) {
			t.Helper()
			got := heard()
			if !slices.EqualFunc(got, want, func(c change, leads bool) bool { return c.leads == leads }) {
				t.Errorf("%s: heard %v, want %v", when, got, want)
			}
		}
		rebuilt(t, server, nil, func(p *peer) {
			l = start(t, p.latch())
			awaitTerm(t, l)
			heard = hear(l)
			wants("in the first term", true)
		})
		_, err := l.Await(t.Context())
		wantErr(t, err, framework.ErrNoChroot) // the last campaign has failed
		wants("without a chroot", true, false)
		wantErr(t, server.Create("/app", nil), nil)
		time.Sleep(time.Minute)
		awaitTerm(t, l)
		wants("in the next term", true, false, true)
	})
}

// The call about the end of an earlier term was held up: the latch leads again.
func TestAnEndThatIsToldLateDoesNotEndTheNextTerm(t *testing.T) {
	inBubble(t, func(t *testing.T, server *zktest.Server) {
		l := start(t, newPeer(t, server).latch())
		awaitTerm(t, l)
		heard := hear(l)
		heard()
		l.CallEnded()
		if got := heard(); len(got) != 1 || !got[0].leads || !l.HasLeadership() {
			t.Errorf("heard %v, leads: %t, want the present term alone", got, l.HasLeadership())
		}
	})
}

func TestOnChangeRefusesANilFunction(t *testing.T) {
	defer func() {
		if got, want := recover(), "leader: OnChange: the function is nil"; got != want {
			t.Errorf("got panic %v, want %s", got, want)
		}
	}()
	leader.NewLeaderLatch(nil, path).OnChange(nil)
}
