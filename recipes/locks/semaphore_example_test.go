package locks_test

import (
	"context"
	"errors"
	"fmt"
	"log"

	"github.com/gocurator/curator/framework/zktest"
	"github.com/gocurator/curator/recipes/locks"
	"github.com/gocurator/curator/recipes/shared"
)

// A job takes as many of ten licences as it needs, all of them or none.
func ExampleInterProcessSemaphoreV2_AcquireN() {
	server := zktest.NewServer()
	defer server.Close()
	client := mustConnect(server)
	defer client.Close()
	ctx := context.Background()

	licences := locks.NewInterProcessSemaphoreV2(client, "/licences", 10)
	leases, err := licences.AcquireN(ctx, 7)
	if err != nil {
		log.Fatal(err)
	}
	_, err = licences.TryAcquireN(ctx, 4)
	fmt.Println("four more:", !errors.Is(err, locks.ErrNotAcquired))
	if err := locks.ReleaseAll(leases[:1]...); err != nil {
		log.Fatal(err)
	}
	more, err := licences.TryAcquireN(ctx, 4)
	fmt.Println("after one was given back:", len(more), err)
	if err := locks.ReleaseAll(append(leases[1:], more...)...); err != nil {
		log.Fatal(err)
	}
	// Output:
	// four more: false
	// after one was given back: 4 <nil>
}

// The limit stands in a node: setting it changes it for all clients.
func ExampleNewInterProcessSemaphoreV2WithCount() {
	server := zktest.NewServer()
	defer server.Close()
	client := mustConnect(server)
	defer client.Close()
	ctx := context.Background()

	limit := shared.NewSharedCount(client, "/workers/limit", 1)
	if err := limit.Start(ctx); err != nil {
		log.Fatal(err)
	}
	defer limit.Close()
	workers := locks.NewInterProcessSemaphoreV2WithCount(client, "/workers/semaphore", limit)

	first, err := workers.Acquire(ctx)
	if err != nil {
		log.Fatal(err)
	}
	defer first.Release()
	_, err = workers.TryAcquire(ctx)
	fmt.Println("a second one:", err)

	if err := limit.SetCount(ctx, 2); err != nil {
		log.Fatal(err)
	}
	second, err := workers.Acquire(ctx)
	if err != nil {
		log.Fatal(err)
	}
	defer second.Release()
	fmt.Println("with a limit of", limit.Count(), "there are two")
	// Output:
	// a second one: locks: acquire "/workers/semaphore": not acquired
	// with a limit of 2 there are two
}
