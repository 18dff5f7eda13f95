package locks_test

import (
	"context"
	"errors"
	"fmt"
	"log"

	"github.com/gocurator/curator/framework/zktest"
	"github.com/gocurator/curator/recipes/locks"
)

// A transfer needs both accounts. They are named in the same order everywhere, or two transfers could wait for each
// other.
func ExampleInterProcessMultiLock() {
	server := zktest.NewServer()
	defer server.Close()
	client := mustConnect(server)
	defer client.Close()
	ctx := context.Background()

	both := locks.NewInterProcessMultiLockWithPaths(client, []string{"/accounts/1", "/accounts/2"})
	lease, err := both.Acquire(ctx)
	if err != nil {
		log.Fatal(err)
	}
	for _, part := range lease.Parts() {
		fmt.Println("holds", part.Path())
	}
	second := locks.NewInterProcessMutex(client, "/accounts/2")
	_, err = second.TryAcquire(ctx)
	fmt.Println("a stranger gets in:", !errors.Is(err, locks.ErrNotAcquired))
	again, err := second.Acquire(lease.Context(ctx)) // the owner re-enters a part
	fmt.Println("the owner:", err)
	if err := errors.Join(again.Release(), lease.Release()); err != nil {
		log.Fatal(err)
	}
	// Output:
	// holds /accounts/1
	// holds /accounts/2
	// a stranger gets in: false
	// the owner: <nil>
}
