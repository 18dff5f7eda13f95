package discovery

import (
	"fmt"
	"testing"
	"testing/synctest"

	"github.com/go-zookeeper/zk"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/framework/zktest"
	"github.com/gocurator/curator/recipes/cache"
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
		remembered := func() int {
			c.mu.Lock()
			defer c.mu.Unlock()
			return len(c.decoded)
		}
		if n, most := remembered(), 2*c.nodes.Len()+1; n > most || n == 0 || changes < 100 {
			t.Errorf("after %d events the cache remembers %d nodes, want at most %d after 100", changes, n, most)
		}
		if err := c.Close(); err != nil || remembered() != 0 {
			t.Errorf("after Close, which says %v, the cache remembers %d nodes, want none", err, remembered())
		}
	})
}

// A cache may read the new node of an instance before that of the service which was made again with it. When it
// has read that as well, it takes the instance away and brings it back, though nothing has happened to it.
func TestAnInstanceWhoseServiceAloneWasMadeAgainHasNoEvent(t *testing.T) {
	c := NewServiceDiscovery(&framework.Client{}, "/services").NewServiceCache("orders")
	node := func(czxid, mzxid int64, address string) cache.Node {
		i := ServiceInstance{Name: "orders", ID: "7", Address: address}
		data, err := i.MarshalJSON()
		if err != nil {
			t.Fatal(err)
		}
		return cache.Node{Path: "/services/orders/7", Data: data, Stat: &zk.Stat{Czxid: czxid, Mzxid: mzxid, EphemeralOwner: 3}}
	}
	for name, test := range map[string]struct {
		before, after cache.Node
		want          cache.Kind // 0 for none
	}{
		"the same node":         {node(5, 5, "a"), node(5, 5, "a"), 0},
		"the same, written":     {node(5, 5, "a"), node(5, 6, "b"), cache.Changed},
		"made again":            {node(5, 5, "a"), node(7, 7, "a"), cache.Changed},
		"the same, of a backup": {node(5, 5, "a"), node(5, 5, "b"), cache.Changed},
	} {
		deleted, is := c.event(cache.Event{Kind: cache.Deleted, Old: test.before, New: test.after})
		if is {
			t.Errorf("%s: got %v for Deleted, want no event", name, deleted.Kind)
		}
		if got, is := c.event(cache.Event{Kind: cache.Created, Old: test.before, New: test.after}); is != (test.want != 0) || is && got.Kind != test.want {
			t.Errorf("%s: got %v, %t for Created, want %v", name, got.Kind, is, test.want)
		}
	}
}
