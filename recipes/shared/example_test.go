package shared_test

import (
	"context"
	"fmt"
	"log"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/framework/zktest"
	"github.com/gocurator/curator/recipes/shared"
)

func ExampleSharedCount() {
	server := zktest.NewServer()
	defer server.Close()
	client, err := framework.NewClient("zk:2181", framework.WithDialer(server.DialContext))
	if err != nil {
		log.Fatal(err)
	}
	defer client.Close()
	ctx := context.Background()

	count := shared.NewSharedCount(client, "/limits/workers", 3)
	if err := count.Start(ctx); err != nil {
		log.Fatal(err)
	}
	defer count.Close()
	heard := make(chan int32, 1)
	count.OnChange(func(n int32) { heard <- n })

	fmt.Println("at first:", count.Count())
	previous := count.VersionedValue()
	set, err := count.TrySetCount(ctx, previous, previous.Value+1)
	fmt.Println("set:", set, err)
	fmt.Println("changed:", <-heard)
	set, err = count.TrySetCount(ctx, previous, 9)
	fmt.Println("set again:", set, err)
	// Output:
	// at first: 3
	// set: true <nil>
	// changed: 4
	// set again: false <nil>
}
