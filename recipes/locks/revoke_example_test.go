package locks_test

import (
	"context"
	"fmt"
	"log"

	"github.com/gocurator/curator/framework/zktest"
	"github.com/gocurator/curator/recipes/locks"
)

// A long job holds a lock. An urgent one asks it to make room, and it does, when it can.
func ExampleLease_RevocationRequested() {
	server := zktest.NewServer()
	defer server.Close()
	holder, hurried := mustConnect(server), mustConnect(server)
	defer holder.Close()
	defer hurried.Close()
	ctx := context.Background()

	lease, err := locks.NewInterProcessMutex(holder, "/jobs/compaction").Acquire(ctx)
	if err != nil {
		log.Fatal(err)
	}
	done := make(chan error)
	go func() {
		<-lease.RevocationRequested() // beside the next piece of work, in a select
		fmt.Println("asked to leave")
		done <- lease.Release()
	}()

	mutex := locks.NewInterProcessMutex(hurried, "/jobs/compaction")
	line, err := mutex.Participants(ctx)
	if err != nil {
		log.Fatal(err)
	}
	if err := locks.AttemptRevoke(ctx, hurried, line[0].Path); err != nil {
		log.Fatal(err)
	}
	mine, err := mutex.Acquire(ctx)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println("released:", <-done)
	fmt.Println("acquired, released:", mine.Release())
	// Output:
	// asked to leave
	// released: <nil>
	// acquired, released: <nil>
}
