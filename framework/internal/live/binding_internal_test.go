package live

import (
	"errors"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/gocurator/curator/framework/internal/cause"
	"github.com/gocurator/curator/framework/session"
	"github.com/gocurator/curator/framework/zktest"
)

// After a suspension both times are up at once: a goroutine that asks a binding for Err ends the term, and while it
// calls the bindings the clock ends the session, and finds no term.
func TestDoneWaitsForBindingsThatAnotherGoroutineEnds(t *testing.T) {
	zktest.Bubble(t, func(t *testing.T) {
		s, owner := unconnected()
		start := s.clock.Now()
		s.onAttached(attachedAt(start))
		goOn := make(chan struct{})
		const holds = 3
		ended := 0
		var h session.Binding
		for range holds {
			var err error
			if h, err = s.Bind(func(error) { <-goOn; ended++ }, nil); err != nil {
				t.Fatal(err)
			}
		}
		time.Sleep(2 * oneTimeout)
		go func() { _ = h.Err() }()
		synctest.Wait()
		go s.tick(start.Add(2 * oneTimeout))
		synctest.Wait()
		select {
		case <-s.Done():
			t.Error("got Done closed while a binding has not ended, want it open")
		default:
		}
		if want := []string{"attached"}; !slices.Equal(owner.events, want) {
			t.Errorf("the owner: got %v, want %v", owner.events, want)
		}
		close(goOn)
		<-s.Done()
		if ended != holds {
			t.Errorf("Done is closed, and %d of %d holds have ended", ended, holds)
		}
		synctest.Wait()
		if want := []string{"attached", "over"}; !slices.Equal(owner.events, want) {
			t.Errorf("the owner: got %v, want %v", owner.events, want)
		}
	})
}

// The process was suspended, and its timers are late: no clock has ended the term when other goroutines look.
func TestTheFirstLookAfterAPauseEndsBindings(t *testing.T) {
	const reconnection = "a reconnection"
	for name, look := range map[string]func(s *whole, b session.Binding) error{
		"Err": func(_ *whole, b session.Binding) error { return b.Err() },
		"Bind": func(s *whole, _ session.Binding) error {
			_, err := s.Bind(func(error) {}, nil)
			return err
		},
		"the end of the connection": func(s *whole, b session.Binding) error {
			s.onDetached(errors.New("broken"))
			return b.Err()
		},
		reconnection: func(s *whole, b session.Binding) error {
			s.onAttached(attachedAt(s.clock.Now()))
			return b.Err()
		},
	} {
		t.Run(name, func(t *testing.T) {
			zktest.Bubble(t, func(t *testing.T) {
				cfg := unconnectedConfig()
				cfg.SyncRenewal = true // a handshake moves the end of later leases
				s := newWhole(cfg, (&ownerLog{}).hear())
				s.onAttached(attachedAt(s.clock.Now()))
				var cause error
				b, err := s.Bind(func(err error) { cause = err }, nil)
				if err != nil {
					t.Fatal(err)
				}
				if name == reconnection { // its end is no look at the pause
					s.onDetached(errors.New("broken"))
				}
				time.Sleep(oneTimeout)
				if err := look(s, b); !errors.Is(err, session.ErrNotRenewed) || !errors.Is(cause, session.ErrNotRenewed) {
					t.Errorf("got %v, and the binding ended with %v; want %v for both", err, cause, session.ErrNotRenewed)
				}
			})
		})
	}
}

func TestReleasedBindingsGetNoEndAndAllOthersGetOne(t *testing.T) {
	s, _ := unconnected()
	s.onAttached(attachedAt(s.clock.Now()))
	const bindings = 10
	var ended, tidied [bindings]int
	var all []session.Binding
	for i := range bindings {
		b, err := s.Bind(func(error) { ended[i]++ }, func() { tidied[i]++ })
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, b)
	}
	for _, i := range []int{0, 9, 4, 4, 8, 0} { // two of them twice
		all[i].Release()
	}
	s.end(session.ErrSessionLost, cause.Expired)
	all[1].Release()
	want := [bindings]int{0, 1, 1, 1, 0, 1, 1, 1, 0, 0}
	if ended != want || tidied != want {
		t.Errorf("got ended %v and tidied up %v, want %v", ended, tidied, want)
	}
}

// A lock that hears of the end of its lease releases it.
func TestBindingsThatAreReleasedAsTheyEndAllEndOnce(t *testing.T) {
	s, _ := unconnected()
	s.onAttached(attachedAt(s.clock.Now()))
	var all [4]session.Binding
	var ended, tidied [len(all)]int
	for i := range all {
		var err error
		all[i], err = s.Bind(func(error) { ended[i]++; all[i].Release() }, func() { tidied[i]++ })
		if err != nil {
			t.Fatal(err)
		}
	}
	s.end(session.ErrSessionLost, cause.Expired)
	if want := [len(all)]int{1, 1, 1, 1}; ended != want || tidied != want {
		t.Errorf("got ended %v and tidied up %v, want %v", ended, tidied, want)
	}
}

func TestBindingsAreTidiedUpAfterDoneAndAfterTheirEnd(t *testing.T) {
	s, owner := unconnected() // its chores are done within the call that orders them
	s.onAttached(attachedAt(s.clock.Now()))
	tidied := false
	_, err := s.Bind(func(error) {}, func() {
		tidied = true
		select {
		case <-s.Done():
		default:
			t.Error("got tidied up before Done is closed, want it after")
		}
		if want := []string{"attached", "over"}; !slices.Equal(owner.events, want) {
			t.Errorf("tidied up when the owner had got %v, want %v", owner.events, want)
		}
	})
	if err != nil {
		t.Fatal(err)
	}
	s.end(session.ErrSessionLost, cause.Expired)
	if !tidied {
		t.Error("got nothing tidied up, want the binding")
	}
}
