package leader_test

import (
	"fmt"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/framework/zktest"
	"github.com/gocurator/curator/framework/zktest/printtest"
	"github.com/gocurator/curator/recipes/leader"
)

// No exported type of the package shows a client's credentials, however it is printed. Both elections may be printed
// while they lead and lose.
func TestNoExportedTypeShowsACredential(t *testing.T) {
	inBubble(t, func(t *testing.T, server *zktest.Server) {
		p := newPeer(t, server, framework.WithAuthorization("digest", []byte(printtest.Credentials)))
		selector, latch := leader.NewLeaderSelector(p.Client, "/leaders/b", leader.WithID("a")), start(t, p.latch(leader.WithID("a")))
		lead(t, selector)
		awaitTerm(t, latch)
		first, err := latch.Leader(t.Context())
		must(t, err)
		synctest.Wait() // no goroutine of the client writes while fields are read
		printtest.WantNoCredentials(t, ".", map[string]any{"LeaderSelector": selector, "LeaderLatch": latch, "Participant": first, "Option": leader.WithID("a")})
		const want = `leader selector "/leaders/b" (id "a", leads: true) leader latch "/leaders/a" (id "a", leads: true)`
		if got := fmt.Sprint(selector, latch); got != want {
			t.Errorf("got %s, want %s", got, want)
		}
		if text := fmt.Sprint(first); !strings.HasPrefix(text, `participant "a" at "/leaders/`) || !strings.HasSuffix(text, ", leads: true)") {
			t.Errorf("got %s, want the id, the node, and that it leads", text)
		}
	})
}

func TestElectionsArePrintedWhileTheyChange(t *testing.T) {
	inBubble(t, func(t *testing.T, server *zktest.Server) {
		p := newPeer(t, server)
		l := p.latch()
		done := make(chan struct{})
		go func() {
			defer close(done)
			for range 100 {
				printtest.Forms(l)
			}
		}()
		start(t, l)
		wantErr(t, awaitTerm(t, l).Release(), nil)
		awaitTerm(t, l)
		<-done
	})
}
