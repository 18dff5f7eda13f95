package discovery_test

import (
	"context"
	"encoding/json"
	"fmt"
	"log"
	"math/rand/v2"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/framework/zktest"
	"github.com/gocurator/curator/recipes/cache"
	"github.com/gocurator/curator/recipes/discovery"
)

// connect makes a client of an in-memory server; yours will be of "zk1:2181,zk2:2181,zk3:2181".
func connect(server *zktest.Server) *framework.Client {
	client, err := framework.NewClient("zktest:2181", framework.WithDialer(server.DialContext))
	if err != nil {
		log.Fatal(err)
	}
	return client
}

// A process registers an instance of a service, and another finds it. Programs in Java do the same on the same nodes.
func ExampleServiceDiscovery() {
	server := zktest.NewServer()
	defer server.Close()
	client := connect(server)
	defer client.Close()
	ctx := context.Background()

	services := discovery.NewServiceDiscovery(client, "/services")
	port := 8080
	me, err := services.Register(ctx, discovery.ServiceInstance{Name: "orders", ID: "7", Address: "10.0.0.7", Port: &port})
	if err != nil {
		log.Fatal(err)
	}
	all, err := services.Instances(ctx, "orders")
	if err != nil { // the others are in all if errors.Is(err, discovery.ErrBadInstance)
		log.Fatal(err)
	}
	for _, i := range all {
		fmt.Printf("%s at %s:%d\n", i.Name, i.Address, *i.Port)
	}
	if err := me.Close(); err != nil {
		log.Fatal(err)
	}
	all, err = services.Instances(ctx, "orders")
	fmt.Println("left:", len(all), err)
	// Output:
	// orders at 10.0.0.7:8080
	// left: 0 <nil>
}

// What Curator calls a ServiceProvider: some instance that is enabled, another one at each call. It asks no server.
func ExampleServiceCache_Instances() {
	server := zktest.NewServer()
	defer server.Close()
	client := connect(server)
	defer client.Close()
	ctx := context.Background()
	services := discovery.NewServiceDiscovery(client, "/services")
	for id, enabled := range map[string]bool{"1": true, "2": true, "3": false} {
		_, err := services.Register(ctx, discovery.ServiceInstance{Name: "orders", ID: id, Enabled: &enabled})
		if err != nil {
			log.Fatal(err)
		}
	}

	orders := services.NewServiceCache("orders")
	if err := orders.Start(ctx); err != nil { // blocks until the cache has every instance
		log.Fatal(err)
	}
	defer orders.Close()
	choose := func() (chosen discovery.ServiceInstance, ok bool) {
		n := 0
		for i := range orders.Instances() {
			if !i.IsEnabled() {
				continue
			}
			if n++; rand.IntN(n) == 0 { // each with the same probability
				chosen = i
			}
		}
		return chosen, n > 0
	}
	calls := map[string]int{}
	for range 100 {
		if i, ok := choose(); ok {
			calls[i.ID]++
		}
	}
	fmt.Println(calls["1"]+calls["2"], "calls,", calls["3"], "of 3; each:", calls["1"] > 0 && calls["2"] > 0)
	// Output: 100 calls, 0 of 3; each: true
}

// A payload of a class in Java is decoded by its fields, and written with its class.
func ExamplePayload() {
	type metadata struct {
		Class string            `json:"@class"`
		Zone  string            `json:"zone"`
		Tags  map[string]string `json:"tags"`
	}
	var i discovery.ServiceInstance
	err := json.Unmarshal([]byte(`{"name":"orders","id":"7","payload":{"@class":"shop.Metadata","zone":"eu","tags":{"v":"2"}}}`), &i)
	if err != nil {
		log.Fatal(err)
	}
	m, err := discovery.Payload[metadata](i)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(m.Zone, m.Tags["v"])
	m.Zone = "us"
	if i.Payload, err = json.Marshal(m); err != nil {
		log.Fatal(err)
	}
	fmt.Println(string(i.Payload))
	// Output:
	// eu 2
	// {"@class":"shop.Metadata","zone":"us","tags":{"v":"2"}}
}

// The stream begins with what is there.
func ExampleServiceCache_Events() {
	server := zktest.NewServer()
	defer server.Close()
	client := connect(server)
	defer client.Close()
	ctx := context.Background()
	services := discovery.NewServiceDiscovery(client, "/services")
	me, err := services.Register(ctx, discovery.ServiceInstance{Name: "orders", ID: "7", Address: "10.0.0.7"})
	if err != nil {
		log.Fatal(err)
	}

	orders := services.NewServiceCache("orders")
	if err := orders.Start(ctx); err != nil {
		log.Fatal(err)
	}
	defer orders.Close()
	for event, err := range orders.Events(ctx) {
		if err != nil { // ctx has ended, or the cache
			log.Fatal(err)
		}
		switch event.Kind {
		case cache.Created:
			fmt.Println("connect to", event.New.Address)
		case cache.Synced: // every instance that there is was in an event
			if err := me.Update(ctx, discovery.ServiceInstance{Name: "orders", ID: "7", Address: "10.0.0.8"}); err != nil {
				log.Fatal(err)
			}
		case cache.Changed:
			fmt.Println("leave", event.Old.Address, "for", event.New.Address)
			if err := me.Close(); err != nil {
				log.Fatal(err)
			}
		case cache.Deleted:
			fmt.Println("leave", event.Old.Address)
			return
		case cache.Stale: // the connection is lost: the cache keeps what it has, which may be old
		}
	}
	// Output:
	// connect to 10.0.0.7
	// leave 10.0.0.7 for 10.0.0.8
	// leave 10.0.0.8
}
