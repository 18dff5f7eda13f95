package cache_test

import (
	"context"
	"fmt"
	"log"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/framework/zktest"
	"github.com/gocurator/curator/recipes/cache"
)

// connect makes a client of an in-memory server; yours will be of "zk1:2181,zk2:2181,zk3:2181".
func connect(server *zktest.Server) *framework.Client {
	client, err := framework.NewClient("zktest:2181", framework.WithDialer(server.DialContext))
	if err != nil {
		log.Fatal(err)
	}
	return client
}

// put gives a node its data, and makes it if there is none.
func put(ctx context.Context, client *framework.Client, path, data string) {
	_, _, err := client.Create(ctx, path, []byte(data), framework.OrSetData(-1), framework.CreatingParentsIfNeeded())
	if err != nil {
		log.Fatal(err)
	}
}

// A directory of workers: each worker makes a node below /workers. The program asks no server which there are, and
// hears of each that comes, changes or goes.
func ExampleCuratorCache() {
	server := zktest.NewServer()
	defer server.Close()
	client, other := connect(server), connect(server)
	defer client.Close()
	defer other.Close()
	ctx := context.Background()
	put(ctx, other, "/workers/7", "idle")

	workers := cache.NewCuratorCache(client, "/workers", cache.WithDepth(1))
	if err := workers.Start(ctx); err != nil { // blocks until the cache has everything
		log.Fatal(err)
	}
	defer workers.Close()

	for event, err := range workers.Events(ctx) {
		if err != nil { // ctx has ended, or the cache
			log.Fatal(err)
		}
		switch event.Kind {
		case cache.Created:
			fmt.Println("created", event.New.Path)
		case cache.Synced: // every worker that there is was in an event
			for worker := range workers.Children("/workers") {
				fmt.Printf("%s is %s\n", worker.Path, worker.Data)
			}
			put(ctx, other, "/workers/7", "busy")
		case cache.Changed:
			fmt.Printf("%s was %s, and is %s\n", event.New.Path, event.Old.Data, event.New.Data)
			if err := other.Delete(ctx, "/workers/7", -1); err != nil {
				log.Fatal(err)
			}
		case cache.Deleted:
			fmt.Println("deleted", event.Old.Path)
			return
		case cache.Stale: // the connection is lost: the cache keeps what it has, which may be old
		}
	}
	// Output:
	// created /workers
	// created /workers/7
	// /workers/7 is idle
	// /workers/7 was idle, and is busy
	// deleted /workers/7
}

// Settings in one node, which a program takes over when they change. It keeps what it has while there is no connection,
// and when the node is deleted.
func ExampleWithDepth() {
	server := zktest.NewServer()
	defer server.Close()
	client, operator := connect(server), connect(server)
	defer client.Close()
	defer operator.Close()
	ctx := context.Background()
	put(ctx, operator, "/settings", "level=info")

	settings := cache.NewCuratorCache(client, "/settings", cache.WithDepth(0))
	if err := settings.Start(ctx); err != nil {
		log.Fatal(err)
	}
	defer settings.Close()
	loaded := make(chan string)
	stop := settings.OnEvent(func(event cache.Event) {
		switch event.Kind {
		case cache.Created, cache.Changed:
			loaded <- string(event.New.Data)
		case cache.Deleted, cache.Synced, cache.Stale:
		}
	})
	defer stop()

	fmt.Println("begins with", <-loaded)
	put(ctx, operator, "/settings", "level=debug")
	fmt.Println("goes on with", <-loaded)
	node, ok := settings.Get("/settings") // as new as the event, or newer
	fmt.Println("reads", string(node.Data), ok)
	// Output:
	// begins with level=info
	// goes on with level=debug
	// reads level=debug true
}

// Sync makes a cache as new as what the program has heard elsewhere: of another process, for instance.
func ExampleCuratorCache_Sync() {
	server := zktest.NewServer()
	defer server.Close()
	client, other := connect(server), connect(server)
	defer client.Close()
	defer other.Close()
	ctx := context.Background()

	orders := cache.NewCuratorCache(client, "/orders")
	if err := orders.Start(ctx); err != nil { // there is no node yet: that is an empty cache
		log.Fatal(err)
	}
	defer orders.Close()
	fmt.Println("nodes:", orders.Len())

	put(ctx, other, "/orders/eu/17", "paid")
	if err := orders.Sync(ctx); err != nil {
		log.Fatal(err)
	}
	for node := range orders.All() { // parents first
		fmt.Println(node.Path)
	}
	// Output:
	// nodes: 0
	// /orders
	// /orders/eu
	// /orders/eu/17
}
