package live_test

import (
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/framework/internal/clienttest"
)

// First every lease, then Done, then listeners, then the tidying up.
func TestAnEndReachesAllBindingsThenDoneThenListenersThenIsTidiedUp(t *testing.T) {
	const holds = 100
	for name, end := range map[string]func(w *env, s framework.Session){
		"expired": func(w *env, s framework.Session) { w.Server.ExpireSession(s.ID()) },
		"closed":  func(w *env, _ framework.Session) { _ = w.Client.Close() },
	} {
		t.Run(name, func(t *testing.T) {
			bubble(t, func(t *testing.T, w *env) {
				s := w.Session()
				var mu sync.Mutex
				var told []string
				tell := func(what string) {
					over := "before Done"
					select {
					case <-s.Done():
						over = fmt.Sprintf("after Done, %v", w.Client.State())
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
					t.Errorf("got the calls %q, want %q", told, want)
				}
			})
		})
	}
}

func TestALapseReachesAllBindingsBeforeAnythingIsTidiedUp(t *testing.T) {
	bubble(t, func(t *testing.T, w *env) {
		s := w.Session()
		const holds = 100
		ended, early := 0, 0
		for range holds {
			_, err := s.Bind(func(error) { ended++ }, func() {
				if ended != holds {
					early++
				}
			})
			must(t, err)
		}
		w.Link.Mute()
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
	bubble(t, func(t *testing.T, w *env) {
		s := w.Session()
		if _, err := s.Bind(func(error) {}, func() { time.Sleep(2 * clienttest.SessionTimeout) }); err != nil {
			t.Fatal(err)
		}
		w.Link.Mute()
		before := time.Now()
		<-s.Done()
		if took := time.Since(before); took > clienttest.SessionTimeout+clienttest.SessionTimeout/100 {
			t.Errorf("the session ended after %v, its timeout is %v", took, clienttest.SessionTimeout)
		}
	})
}
