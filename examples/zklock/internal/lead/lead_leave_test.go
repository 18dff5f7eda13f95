package lead_test

import (
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/gocurator/curator/examples/zklock/internal/lead"
	"github.com/gocurator/curator/framework/zktest"
)

func TestReleaseWaitsForTheLastYes(t *testing.T) {
	for name, c := range map[string]struct{ unasked, want time.Duration }{
		"asked just now":              {0, promise},
		"asked half a promise before": {promise / 2, promise / 2},
		"asked long before":           {2 * promise, 0},
	} {
		t.Run(name, func(t *testing.T) {
			zktest.Bubble(t, func(t *testing.T) {
				server := zktest.New(t)
				a, b := stand(t, server, "a", false), stand(t, server, "b", false)
				a.until(true)
				time.Sleep(c.unasked)
				cause := errors.New("TERM")
				a.stop(cause)
				synctest.Wait()
				if a.Answer().Leading {
					t.Error("got a yes after the end was asked for")
				}
				if d := b.until(true); d < c.want || d > c.want+10*time.Millisecond {
					t.Errorf("the next one leads after %v, want %v", d, c.want)
				}
				if err := a.within(time.Second); !errors.Is(err, cause) {
					t.Errorf("got %v, want the cause", err)
				}
			})
		})
	}
}

func TestLossDuringTheWaitForTheLastYesIsALoss(t *testing.T) {
	zktest.Bubble(t, func(t *testing.T) {
		server := zktest.New(t)
		a := stand(t, server, "a", false)
		a.until(true)
		a.revoke()
		if err := server.Delete(path + "/" + server.Children(path)[0]); err != nil {
			t.Fatal(err)
		}
		if err := a.within(promise); !errors.As(err, new(*lead.LostError)) {
			t.Errorf("got %v, want a LostError", err)
		}
		if yields, lost := a.last(lead.Yields), a.last(lead.Lost); yields.Event != "" || lost.Why == "" {
			t.Errorf("got the events %+v and %+v, want only the loss", yields, lost)
		}
	})
}

func TestLeaderThatIsAskedToLeaveStandsAgainBehindTheOthers(t *testing.T) {
	zktest.Bubble(t, func(t *testing.T) {
		server := zktest.New(t)
		a, b := stand(t, server, "a", false), stand(t, server, "b", false)
		a.until(true)
		first := a.Answer()
		if present := b.revoke(); present.ID != "a" || present.Token != first.Token {
			t.Fatalf("got %+v, want a with token %d", present, first.Token)
		}
		b.until(true)
		synctest.Wait() // a sees b in the instant in which b leads
		if got := a.Answer(); got.Name != "b" || got.Leading || got.Token != b.Answer().Token || got.Token <= first.Token {
			t.Errorf("got %+v of the one that was asked, want that b leads with a greater token", got)
		}
		b.stop(nil)
		a.until(true)
	})
}
