package observability

import (
	"context"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/gocurator/curator/recipes/leader"
)

// wantLeading compares whether the process leads, and for how long it has led; "" is no value.
func (w world) wantLeading(t *testing.T, when, leads, seconds string) {
	t.Helper()
	synctest.Wait()
	for name, want := range map[string]string{"": leads, "_seconds_total": seconds} {
		if got := strings.Join(series(t, w.registry, "curator_election_leading"+name), ", "); got != want {
			t.Errorf("%s: got curator_election_leading%s %q, want %q", when, name, got, want)
		}
	}
	for name, want := range map[string]string{"lock.client.leading": leads, "lock.client.leadership.time": seconds} {
		got := strings.ReplaceAll(strings.Join(w.points(t, name), ", "), "election ", "")
		if got != want {
			t.Errorf("%s: got %s %q, want %q", when, name, got, want)
		}
	}
}

func TestTermsAreShownAndTheirTimeIsCounted(t *testing.T) {
	inBubble(t, func(t *testing.T, w world) {
		link := w.server.NewLink()
		client := w.client(t, link.DialContext)
		latch := leader.NewLeaderLatch(client, "/leaders", w.Election("e"))
		w.wantLeading(t, "before it is watched", "", "e 0")
		w.WatchLeader("e", latch)
		w.wantLeading(t, "before the start", "e 0", "e 0")
		if err := latch.Start(t.Context()); err != nil {
			t.Fatal(err)
		}
		term, err := latch.Await(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		time.Sleep(7 * time.Second)
		w.wantLeading(t, "it leads", "e 1", "e 7")

		if err := term.Release(); err != nil { // it stands again, and leads at once
			t.Fatal(err)
		}
		time.Sleep(3 * time.Second)
		w.wantLeading(t, "its second term", "e 1", "e 10")

		if err := latch.Close(); err != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Minute)
		w.wantLeading(t, "closed", "e 0", "e 10")
	})
}

// Telemetry hears of a lost term a moment later than the participant, and a collection in between counts the moment.
func TestTimeLedNeverFalls(t *testing.T) {
	inBubble(t, func(t *testing.T, w world) {
		w.Election("e")
		began := time.Now()
		w.holds[holdKey{"/leaders", "n", 1}] = hold{lock: named{"e", kindElection}, since: began}
		time.Sleep(5 * time.Second)
		w.wantLeading(t, "the term lasts", "", "e 5")
		delete(w.holds, holdKey{"/leaders", "n", 1})
		w.elections["e"].ended = 4 * time.Second
		w.wantLeading(t, "the term was over a second earlier", "", "e 5")
	})
}

func TestLostTermIsCountedWithItsCause(t *testing.T) {
	inBubble(t, func(t *testing.T, w world) {
		link := w.server.NewLink()
		selector := leader.NewLeaderSelector(w.client(t, link.DialContext), "/leaders", w.Election("e"))
		w.WatchLeader("e", selector)
		lost := make(chan error, 1)
		go func() {
			lost <- selector.RunOnce(t.Context(), func(ctx context.Context) error {
				<-ctx.Done()
				return context.Cause(ctx)
			})
		}()
		synctest.Wait()
		link.Cut()
		if err := <-lost; err == nil {
			t.Error("got no error of a lost term")
		}
		synctest.Wait()
		w.wantGauge(t, "curator_election_leading", "e", 0)
		if got := strings.Join(series(t, w.registry, "curator_lock_lost_causes_total"), ", "); !strings.Contains(got, "not-reached e 1") {
			t.Errorf("got %q, want a term that was lost since no server was reached", got)
		}
		link.Heal()
	})
}
