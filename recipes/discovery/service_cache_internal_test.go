package discovery

import (
	"fmt"
	"testing"
	"testing/synctest"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/framework/zktest"
)

// What was decoded of nodes that have changed or gone is forgotten.
func TestACacheRemembersNoMoreThanTwiceWhatItHas(t *testing.T) {
	zktest.Bubble(t, func(t *testing.T) {
		server := zktest.New(t)
		client, err := framework.NewClient("zktest:2181", framework.WithDialer(server.DialContext))
		if err != nil {
			t.Fatal(err)
		}
		defer client.Close()
		services := NewServiceDiscovery(client, "/services")
		r, err := services.Register(t.Context(), ServiceInstance{Name: "orders", ID: "7"})
		if err != nil {
			t.Fatal(err)
		}
		c := services.NewServiceCache("orders")
		if err := c.Start(t.Context()); err != nil {
			t.Fatal(err)
		}
		defer c.Close()
		changes := 0
		c.OnEvent(func(Event) { changes++ })
		for n := range 100 {
			if err := r.Update(t.Context(), ServiceInstance{Name: "orders", ID: "7", Address: fmt.Sprint(n)}); err != nil {
				t.Error(err)
			}
			synctest.Wait()
		}
		c.mu.Lock()
		defer c.mu.Unlock()
		if most := 2*c.nodes.Len() + 1; len(c.decoded) > most || changes < 100 {
			t.Errorf("after %d events the cache remembers %d nodes, want at most %d after 100", changes, len(c.decoded), most)
		}
	})
}
