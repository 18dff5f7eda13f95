package discovery_test

import (
	"fmt"
	"testing"
	"testing/synctest"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/framework/zktest"
	"github.com/gocurator/curator/framework/zktest/printtest"
	"github.com/gocurator/curator/recipes/cache"
	"github.com/gocurator/curator/recipes/discovery"
)

func TestNoExportedTypeShowsACredential(t *testing.T) {
	inBubble(t, func(t *testing.T, server *zktest.Server) {
		client, _ := newClient(t, server, framework.WithAuthorization("digest", []byte(printtest.Credentials)))
		r, c := register(t, client, order("a", 80)), follow(t, client)
		synctest.Wait() // no goroutine of the client writes while fields are read
		printtest.WantNoCredentials(t, ".", map[string]any{
			"Event": discovery.Event{Node: "a"}, "Registration": r, "ServiceCache": c, "ServiceInstance": order("a", 80),
			"ServiceDiscovery": discovery.NewServiceDiscovery(client, base), "ServiceType": discovery.Static,
			"URIPart": part("scheme", true), "URISpec": parsed(t, "{scheme}"),
		})
		nodes := cache.NewCuratorCache(client, orders)
		printtest.WantNoCredentials(t, "../cache", map[string]any{
			"CuratorCache": nodes, "Kind": cache.Created, "Event": cache.Event{}, "Option": cache.WithDepth(1), "Node": cache.Node{},
			"Snapshot": nodes.Snapshot(), "Stats": nodes.Stats(),
		})
		const want = `registration by persistent node "/services/orders/a" (there: true) service cache of "/services/orders"`
		if got := fmt.Sprint(r, c); got != want {
			t.Errorf("got %s, want %s", got, want)
		}
	})
}

func TestCachesAndRegistrationsArePrintedWhileTheyChange(t *testing.T) {
	inBubble(t, func(t *testing.T, server *zktest.Server) {
		client, _ := newClient(t, server)
		r, c := register(t, client, order("a", 80)), follow(t, client)
		done := make(chan struct{})
		go func() {
			defer close(done)
			for range 100 {
				printtest.Forms(r)
				printtest.Forms(c)
			}
		}()
		for port := range 20 {
			must(t, r.Update(t.Context(), order("a", port)))
			for range c.Instances() {
				continue
			}
		}
		<-done
	})
}
