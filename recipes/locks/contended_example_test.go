package locks_test

import (
	"context"
	"fmt"
	"log"

	"github.com/gocurator/curator/framework/zktest"
	"github.com/gocurator/curator/recipes/locks"
)

// A batch job holds a lock for many items, and stops between two of them when another process waits for the lock.
func ExampleLease_Contended() {
	server := zktest.NewServer()
	defer server.Close()
	batch, hurried := mustConnect(server), mustConnect(server)
	defer batch.Close()
	defer hurried.Close()
	ctx := context.Background()

	lease, err := locks.NewInterProcessMutex(batch, "/jobs/reindex").Acquire(ctx)
	if err != nil {
		log.Fatal(err)
	}
	report := make(chan error)
	for item := 1; item <= 100; item++ {
		if item == 3 {
			go func() {
				report <- locks.Do(ctx, locks.NewInterProcessMutex(hurried, "/jobs/reindex"), func(context.Context) error { return nil })
			}()
			<-lease.Contended() // the item takes longer than the report takes to stand in the queue
		}
		fmt.Println("item", item)
		select {
		case <-lease.Contended():
			fmt.Println("makes room:", lease.Release())
			fmt.Println("report:", <-report)
			return
		default:
		}
	}
	// Output:
	// item 1
	// item 2
	// item 3
	// makes room: <nil>
	// report: <nil>
}
