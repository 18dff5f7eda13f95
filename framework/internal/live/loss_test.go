package live_test

import (
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/gocurator/curator/framework/internal/clienttest"
	"github.com/gocurator/curator/framework/session"
)

// bind ties n bindings to the session, and returns what they ended by, with the explanations that onEnd got if it asks.
func bind(t *testing.T, w *env, n int, asks bool) (causes []error, early []session.Explanation) {
	t.Helper()
	causes, early = make([]error, n), make([]session.Explanation, n)
	for i := range n {
		if _, err := w.Session().Bind(func(cause error) {
			causes[i] = cause
			if asks {
				early[i] = session.Explain(cause)
			}
		}, nil); err != nil {
			t.Fatal(err)
		}
	}
	return causes, early
}

func TestAllBindingsOfATermShareOneExplanation(t *testing.T) {
	for name, asks := range map[string]bool{"that is asked for later": false, "that the first end asks for": true} {
		t.Run(name, func(t *testing.T) {
			bubble(t, func(t *testing.T, w *env) {
				causes, early := bind(t, w, 100, asks)
				w.Link.Cut()
				time.Sleep(clienttest.SessionTimeout)
				synctest.Wait()
				first := session.Explain(causes[0])
				if first.Kind != session.LossNotReached || len(first.Evidence) == 0 {
					t.Fatalf("got %v: %s with %d lines, want no server reached, with evidence", first.Kind, first, len(first.Evidence))
				}
				for i := range causes {
					if got := session.Explain(causes[i]); got.Kind != first.Kind || &got.Evidence[0] != &first.Evidence[0] {
						t.Errorf("binding %d: got %v: %s, want the first one's explanation", i, got.Kind, got)
					}
					if asks && &early[i].Evidence[0] != &first.Evidence[0] {
						t.Errorf("binding %d: got %s within onEnd, want the same as later", i, early[i])
					}
				}
			})
		})
	}
}

func TestTheEvidenceHasRenewalsAndTheirAnswers(t *testing.T) {
	bubble(t, func(t *testing.T, w *env) {
		causes, _ := bind(t, w, 1, false)
		time.Sleep(clienttest.SessionTimeout + time.Second) // no renewal is under way
		w.Link.Cut()
		time.Sleep(clienttest.SessionTimeout)
		synctest.Wait()
		got := strings.Join(session.Explain(causes[0]).Evidence, "\n")
		for _, want := range []string{
			"a renewal was sent to zk:2181", "zk:2181 answered the renewal after 0s", "the connection to zk:2181 ended: connection reset",
			"attempts to connect to zk:2181 failed", "leases ended: no renewal was answered in time",
		} {
			if !strings.Contains(got, want) {
				t.Errorf("got\n%s\nwant %q in it", got, want)
			}
		}
	})
}

func TestALossIsExplainedInALaterSessionAsItWas(t *testing.T) {
	bubble(t, func(t *testing.T, w *env) {
		causes, _ := bind(t, w, 1, false)
		before := w.Session()
		w.Link.Cut()
		time.Sleep(2 * clienttest.SessionTimeout)
		w.Link.Heal()
		w.Connected()
		w.Session().StartRenewal()                  // the test ends with the session
		time.Sleep(200 * clienttest.SessionTimeout) // far more than 256 events
		synctest.Wait()
		for name, err := range map[string]error{"binding": causes[0], "session": before.Err()} {
			if got := session.Explain(err); got.Kind != session.LossNotReached || len(got.Evidence) == 0 {
				t.Errorf("%s: got %v: %s with %d lines, want no server reached, with evidence", name, got.Kind, got, len(got.Evidence))
			}
		}
	})
}
