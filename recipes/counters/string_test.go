package counters_test

import (
	"strings"
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
		for want, counter := range map[string]any{`atomic long at "/numbers/hits"`: long, `atomic integer at "/numbers/hits"`: integer} {
			for form, text := range printtest.Texts(counter) {
				if !strings.Contains(text, path) || !strings.Contains(form, "slog") && !strings.Contains(strings.ReplaceAll(text, `\"`, `"`), want) {
					t.Errorf("%s: got %s, want %s", form, text, want)
				}
			}
		}
		var none *counters.DistributedAtomicLong
		for form, text := range printtest.Texts(none) {
			if !strings.Contains(text, "<nil>") {
				t.Errorf("%s: got %s, want <nil>", form, text)
			}
		}
	})
}
