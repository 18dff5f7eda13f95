package locks_test

import (
	"context"
	"errors"
	"fmt"
	"log"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/framework/zktest"
	"github.com/gocurator/curator/recipes/locks"
)

// mustConnect connects a client of an example to a server in memory.
func mustConnect(server *zktest.Server) *framework.Client {
	client, err := framework.NewClient("zk:2181", framework.WithDialer(server.DialContext))
	if err != nil {
		log.Fatal(err)
	}
	return client
}

// Many read a configuration, and now and then a writer changes it: readers never see half of a change.
func ExampleInterProcessReadWriteLock() {
	server := zktest.NewServer()
	defer server.Close()
	client := mustConnect(server)
	defer client.Close()
	ctx := context.Background()

	config := map[string]string{} // stands for something that many processes share
	rw := locks.NewInterProcessReadWriteLock(client, "/config/lock")

	err := locks.Do(ctx, rw.WriteLock(), func(context.Context) error {
		config["user"], config["password"] = "app", "secret"
		return nil
	})
	if err != nil {
		log.Fatal(err)
	}
	err = locks.Do(ctx, rw.ReadLock(), func(ctx context.Context) error {
		fmt.Println(config["user"], config["password"])
		_, err := rw.WriteLock().Acquire(ctx)
		fmt.Println("a reader becomes a writer:", !errors.Is(err, locks.ErrUpgrade))
		return nil
	})
	if err != nil {
		log.Fatal(err)
	}
	// Output:
	// app secret
	// a reader becomes a writer: false
}

// A writer that has changed something goes on as a reader: others may read, and no writer gets in between.
func ExampleReadLock_Acquire_downgrade() {
	server := zktest.NewServer()
	defer server.Close()
	client := mustConnect(server)
	defer client.Close()
	ctx := context.Background()

	rw := locks.NewInterProcessReadWriteLock(client, "/index/lock")
	write, err := rw.WriteLock().Acquire(ctx)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println("the index is built")

	read, err := rw.ReadLock().Acquire(write.Context(ctx)) // this context says who asks
	if err != nil {
		log.Fatal(err)
	}
	defer read.Release()
	if err := write.Release(); err != nil {
		log.Fatal(err)
	}

	ctx = read.Context(ctx) // from the first context: that of the write lease has ended with it
	fmt.Println("reads:", rw.ReadLock().IsOwnedBy(ctx), "writes:", rw.WriteLock().IsOwnedBy(ctx))
	_, err = rw.WriteLock().TryAcquire(locks.WithoutLease(ctx))
	fmt.Println("another writer:", errors.Is(err, locks.ErrNotAcquired))
	fmt.Println("same place in the queue:", read.FencingToken() == write.FencingToken())
	// Output:
	// the index is built
	// reads: true writes: false
	// another writer: true
	// same place in the queue: true
}
