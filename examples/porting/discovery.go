package porting

import (
	"context"
	"math/rand/v2"
	"net"
	"slices"
	"strconv"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/recipes/cache"
	"github.com/gocurator/curator/recipes/discovery"
)

// Serve is Discovery.serve. It returns when the instance is registered.
func Serve(ctx context.Context, client *framework.Client, address string, port int) (*discovery.Registration, error) {
	return discovery.NewServiceDiscovery(client, "/discovery").Register(ctx, discovery.ServiceInstance{
		Name: "orders", Address: address, Port: &port, Payload: []byte(`"v1"`),
	})
}

// FollowOrders is Discovery.follow. It returns when the cache has every instance.
func FollowOrders(ctx context.Context, client *framework.Client, changed func(addresses []string)) (*discovery.ServiceCache, error) {
	orders := discovery.NewServiceDiscovery(client, "/discovery").NewServiceCache("orders")
	orders.OnEvent(func(event discovery.Event) {
		if event.Kind != cache.Stale && orders.Synced() { // Java reports no outage
			changed(Addresses(orders))
		}
	})
	err := orders.Start(ctx)
	return orders, err
}

// Addresses is Discovery.addresses.
func Addresses(orders *discovery.ServiceCache) (all []string) {
	for i := range orders.Instances() {
		all = append(all, net.JoinHostPort(i.Address, strconv.Itoa(*i.Port)))
	}
	return all
}

// Choose is Discovery.choose: one of those that are enabled, at random; false if there is none.
func Choose(orders *discovery.ServiceCache) (discovery.ServiceInstance, bool) {
	all := slices.DeleteFunc(slices.Collect(orders.Instances()), func(i discovery.ServiceInstance) bool { return !i.IsEnabled() })
	if len(all) == 0 {
		return discovery.ServiceInstance{}, false
	}
	return all[rand.IntN(len(all))], true
}
