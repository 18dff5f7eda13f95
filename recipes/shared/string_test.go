package shared_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/gocurator/curator/framework/zktest"
	"github.com/gocurator/curator/recipes/shared"
)

func TestACountSaysWhatItIs(t *testing.T) {
	inBubble(t, func(t *testing.T, server *zktest.Server) {
		client, _ := newClient(t, server)
		count := start(t, client, 1)
		set(t, count, 7)
		if got, want := fmt.Sprint(count), `shared count at "/limits/jobs" (7)`; got != want {
			t.Errorf("got %s, want %s", got, want)
		}
	})
}

func TestErrorsOfACountAreOneLineAndNameIt(t *testing.T) {
	inBubble(t, func(t *testing.T, server *zktest.Server) {
		client, _ := newClient(t, server)
		must(t, server.Create("/foreign", []byte("12")))
		for want, count := range map[string]*shared.SharedCount{
			`shared: count at "limits": framework: invalid path "limits"`: shared.NewSharedCount(nil, "limits", 1),
			`shared: count at "/limits": client is nil`:                   shared.NewSharedCount(nil, "/limits", 1),
			`shared: not a count: "/foreign" has 2 bytes`:                 shared.NewSharedCount(client, "/foreign", 1),
		} {
			err := count.Start(t.Context())
			if err == nil || !strings.HasPrefix(err.Error(), want) || strings.Contains(err.Error(), "\n") {
				t.Errorf("got %v, want %s", err, want)
			}
		}
		err := shared.NewSharedCount(nil, "limits", 1).Start(t.Context())
		if err == nil || !strings.HasSuffix(err.Error(), "; client is nil") {
			t.Errorf("got %v, want both mistakes", err)
		}
	})
}
