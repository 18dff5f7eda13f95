package lead_test

import (
	"errors"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/gocurator/curator/examples/zklock/internal/lead"
	"github.com/gocurator/curator/framework/zktest"
)

func TestBlockedReportDoesNotKeepTheLeadership(t *testing.T) {
	for name, end := range map[string]func(t *testing.T, a, b *participant){
		"at TERM":               func(_ *testing.T, a, _ *participant) { a.stop(errors.New("TERM")) },
		"asked to leave":        func(t *testing.T, _, b *participant) { t.Helper(); b.revoke() },
		"when the term is lost": func(_ *testing.T, a, _ *participant) { a.link.Cut() },
	} {
		t.Run(name, func(t *testing.T) {
			zktest.Bubble(t, func(t *testing.T) {
				server, blocked := zktest.New(t), make(chan struct{})
				defer close(blocked)
				a := standReporting(t, server, "a", false, func(lead.Event) { <-blocked })
				b := stand(t, server, "b", false)
				a.until(true)
				end(t, a, b)
				if d := b.until(true); d > sessionTimeout+promise {
					t.Errorf("the next one leads after %v", d)
				}
			})
		})
	}
}

func TestRunWaitsASecondForABlockedReport(t *testing.T) {
	zktest.Bubble(t, func(t *testing.T) {
		blocked := make(chan struct{})
		defer close(blocked)
		a := standReporting(t, zktest.New(t), "a", false, func(lead.Event) { <-blocked })
		a.until(true)
		cause, began := errors.New("TERM"), time.Now()
		a.stop(cause)
		if err := a.within(time.Minute); !errors.Is(err, cause) {
			t.Errorf("got %v, want the cause", err)
		}
		if d := time.Since(began); d != promise+time.Second {
			t.Errorf("got the end after %v, want %v", d, promise+time.Second)
		}
	})
}

func TestRunEndsWhenReportHasGotTheLastEvent(t *testing.T) {
	zktest.Bubble(t, func(t *testing.T) {
		var events []lead.Event // read after Run
		a := standReporting(t, zktest.New(t), "a", false, func(event lead.Event) {
			time.Sleep(500 * time.Millisecond)
			events = append(events, event)
		})
		a.until(true)
		a.stop(nil)
		_ = a.within(time.Minute)
		if n := len(events); n == 0 || events[n-1].Event != lead.Yields {
			t.Errorf("got %v, want the last event to be %s", events, lead.Yields)
		}
	})
}

func TestEventAfterDroppedOnesSaysHowManyTheyWere(t *testing.T) {
	zktest.Bubble(t, func(t *testing.T) {
		server := zktest.New(t)
		blocked, got := make(chan struct{}), make(chan lead.Event, 1000)
		unblock := sync.OnceFunc(func() { close(blocked) })
		defer unblock()
		a := standReporting(t, server, "a", true, func(event lead.Event) { <-blocked; got <- event })
		const terms = 50 // two events each
		for range terms {
			a.until(true)
			if err := server.Delete(path + "/" + server.Children(path)[0]); err != nil {
				t.Fatal(err)
			}
			synctest.Wait()
		}
		unblock()
		synctest.Wait()
		a.until(true)
		a.stop(nil)
		_ = a.within(time.Minute)
		close(got)
		passed, dropped := 0, 0
		for event := range got {
			passed++
			dropped += event.Dropped
		}
		if want := 2*terms + 2; passed+dropped != want || dropped == 0 {
			t.Errorf("got %d events and %d dropped, want %d in all", passed, dropped, want)
		}
	})
}
