package counters_test

import (
	"fmt"
	"testing"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/framework/zktest"
	"github.com/gocurator/curator/framework/zktest/printtest"
	"github.com/gocurator/curator/recipes/counters"
)

func TestACounterPrintsItsPathAndNoCredentials(t *testing.T) {
	inBubble(t, func(t *testing.T, server *zktest.Server) {
		client, _ := newClient(t, server, framework.WithAuthorization("digest", []byte(printtest.Credentials)))
		long, integer := counters.NewDistributedAtomicLong(client, path), counters.NewDistributedAtomicInteger(client, path)
		printtest.WantNoCredentials(t, ".", map[string]any{
			"DistributedAtomicLong": long, "DistributedAtomicInteger": integer, "Option": counters.WithLock(lockPath),
		})
		if got, want := fmt.Sprint(long, integer), `atomic long at "/numbers/hits" atomic integer at "/numbers/hits"`; got != want {
			t.Errorf("got %s, want %s", got, want)
		}
	})
}
