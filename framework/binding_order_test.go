package framework_test

import (
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/gocurator/curator/framework"
)

// First every lease, then Done, then listeners, then the tidying up.
func TestAnEndIsToldToAllHoldsThenByDoneThenToListenersThenTidiedUp(t *testing.T) {
	const holds = 100
	for name, end := range map[string]func(w *world, s *framework.Session){
		"expired": func(w *world, s *framework.Session) { w.srv.ExpireSession(s.ID()) },
		"closed":  func(w *world, _ *framework.Session) { _ = w.client.Close() },
	} {
		t.Run(name, func(t *testing.T) {
			bubble(t, func(t *testing.T, w *world) {
				s := w.session()
				var mu sync.Mutex
				var told []string
				tell := func(what string) {
					over := "before Done"
					select {
					case <-s.Done():
						over = fmt.Sprintf("after Done, %v", w.client.State())
					default:
					}
					mu.Lock()
					defer mu.Unlock()
					told = append(told, what+" "+over)
				}
				for range holds {
					if _, err := s.Bind(func(error) { tell("end") }, func() { tell("tidy") }); err != nil {
						t.Fatal(err)
					}
				}
				end(w, s)
				<-s.Done()
				synctest.Wait()
				mu.Lock()
				defer mu.Unlock()
				want := append(slices.Repeat([]string{"end before Done"}, holds), slices.Repeat([]string{"tidy after Done, LOST"}, holds)...)
				for i := range told { // there may be a new session by then
					told[i] = strings.Replace(told[i], "RECONNECTED", "LOST", 1)
				}
				if !slices.Equal(told, want) {
					t.Errorf("told %q", told)
				}
			})
		})
	}
}

func TestALapseIsToldToAllHoldsBeforeAnythingIsTidiedUp(t *testing.T) {
	bubble(t, func(t *testing.T, w *world) {
		s := w.session()
		const holds = 100
		ended, early := 0, 0
		for range holds {
			_, err := s.Bind(func(error) { ended++ }, func() {
				if ended != holds {
					early++
				}
			})
			if err != nil {
				t.Fatal(err)
			}
		}
		w.link.Mute()
		until := s.ValidUntil()
		time.Sleep(time.Until(until) + time.Millisecond)
		synctest.Wait()
		if ended != holds || early != 0 || s.Err() != nil {
			t.Errorf("%d holds have ended, %d were tidied up before that, and the session says %v", ended, early, s.Err())
		}
	})
}

// To tidy up may take long, with thousands of holds: the session's end is not late for it.
func TestTidyingUpDelaysNoEnd(t *testing.T) {
	bubble(t, func(t *testing.T, w *world) {
		s := w.session()
		if _, err := s.Bind(func(error) {}, func() { time.Sleep(2 * session) }); err != nil {
			t.Fatal(err)
		}
		w.link.Mute()
		before := time.Now()
		<-s.Done()
		if took := time.Since(before); took > session+session/100 {
			t.Errorf("the session ended after %v, its timeout is %v", took, session)
		}
	})
}
