package nodes_test

import (
	"testing"
	"time"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/framework/session"
	"github.com/gocurator/curator/framework/zktest"
)

func TestALostNodeIsExplained(t *testing.T) {
	for name, test := range map[string]struct {
		lose func(t *testing.T, server *zktest.Server, client *framework.Client, link *zktest.Link)
		want session.LossKind
	}{
		"after a cut": {func(_ *testing.T, _ *zktest.Server, _ *framework.Client, link *zktest.Link) { link.Cut() }, session.LossNotReached},
		"after a silence": {
			func(_ *testing.T, _ *zktest.Server, _ *framework.Client, link *zktest.Link) { link.Mute() }, session.LossNotAnswered,
		},
		"without a leader": {
			func(_ *testing.T, server *zktest.Server, _ *framework.Client, _ *zktest.Link) {
				server.SetReadOnly(true)
			}, session.LossNotServing,
		},
		"after an expiry": {func(t *testing.T, server *zktest.Server, client *framework.Client, _ *zktest.Link) {
			t.Helper()
			expire(t, server, client)
		}, session.LossSessionEnded},
		"after an expiry, seen as a removal": {func(
			t *testing.T, server *zktest.Server, client *framework.Client, link *zktest.Link,
		) {
			t.Helper()
			link.SetLatency(5 * time.Millisecond)
			wantErr(t, server.Delete(path))
			time.Sleep(6 * time.Millisecond) // the event has arrived, and what the client asks for then has not
			expire(t, server, client)
		}, session.LossSessionEnded},
		"after a removal by hand": {func(t *testing.T, server *zktest.Server, _ *framework.Client, _ *zktest.Link) {
			t.Helper()
			wantErr(t, server.Delete(path))
		}, session.LossNodeRemoved},
	} {
		t.Run(name, func(t *testing.T) {
			inBubble(t, func(t *testing.T, server *zktest.Server) {
				client, link := newClient(t, server)
				node := start(t, client, path, "up")
				if got := node.LastLoss(); got.Sentence != "" {
					t.Errorf("before a loss: got %v: %s, want nothing", got.Kind, got)
				}
				time.Sleep(sessionTimeout)
				heard := make(chan session.Explanation, 10)
				node.OnChange(func(there bool) {
					if !there {
						time.Sleep(sessionTimeout / 4) // until the client knows whether its session is over, too
						heard <- node.LastLoss()
					}
				})
				test.lose(t, server, client, link)
				got := <-heard
				if got.Kind != test.want || got.Sentence == "" {
					t.Errorf("got %v: %s, want %v", got.Kind, got, test.want)
				}
				server.SetReadOnly(false)
			})
		})
	}
}

// The node was gone before its session ended.
func TestALossIsNotReplacedByALaterEndOfItsSession(t *testing.T) {
	inBubble(t, func(t *testing.T, server *zktest.Server) {
		client, _ := newClient(t, server)
		node := start(t, client, path, "up")
		wantErr(t, server.Create("/services/web/2", nil)) // the parent stays
		wantErr(t, server.SetACL("/services/web", anyone(1)))
		wantErr(t, server.Delete(path))
		time.Sleep(time.Hour)
		if node.There() {
			t.Fatal("got a node, want none: the server refuses to create it")
		}
		before := node.LastLoss()
		expire(t, server, client)
		time.Sleep(time.Minute)
		if got := node.LastLoss(); got.Kind != session.LossNodeRemoved || before.Kind != got.Kind || before.Sentence != got.Sentence {
			t.Errorf("got %v: %s, and after the session's end %v: %s; want a removal", before.Kind, before, got.Kind, got)
		}
		wantErr(t, server.SetACL("/services/web", anyone(31)))
	})
}
