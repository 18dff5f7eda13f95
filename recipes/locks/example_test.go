package locks_test

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log"
	"sync"
	"time"

	"github.com/go-zookeeper/zk"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/framework/zktest"
	"github.com/gocurator/curator/recipes/locks"
)

// connect makes a client of an in-memory server; yours will be of "zk1:2181,zk2:2181,zk3:2181".
func connect(server *zktest.Server, opts ...framework.Option) *framework.Client {
	client, err := framework.NewClient("zktest:2181", append(opts, framework.WithDialer(server.DialContext))...)
	if err != nil {
		log.Fatal(err)
	}
	return client
}

func Example() {
	server := zktest.NewServer()
	defer server.Close()
	client := connect(server)
	defer client.Close()
	ctx := context.Background()

	mutex := locks.NewInterProcessMutex(client, "/locks/nightly")
	lease, err := mutex.Acquire(ctx) // ctx bounds this wait, nothing else
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println("acquired:", mutex.IsAcquiredInThisProcess())

	work := lease.Context(ctx) // ends when ctx ends, and when the lock is lost
	fmt.Println("still held:", work.Err() == nil)

	if err := lease.Release(); err != nil {
		log.Fatal(err)
	}
	fmt.Println("released:", errors.Is(context.Cause(work), locks.ErrReleased))
	// Output:
	// acquired: true
	// still held: true
	// released: true
}

// The holder can acquire the lock again with the context of the lease, in whatever function the context reaches.
func ExampleInterProcessMutex_reentrant() {
	server := zktest.NewServer()
	defer server.Close()
	client := connect(server)
	defer client.Close()
	mutex := locks.NewInterProcessMutex(client, "/locks/accounts")

	transfer := func(ctx context.Context, step string) error {
		return locks.Do(ctx, mutex, func(context.Context) error {
			fmt.Println(step)
			return nil
		})
	}
	err := locks.Do(context.Background(), mutex, func(ctx context.Context) error {
		return errors.Join(transfer(ctx, "debit"), transfer(ctx, "credit"))
	})
	fmt.Println("error:", err)
	// Output:
	// debit
	// credit
	// error: <nil>
}

// The context of a lease ends when the lock is lost, here since its node is deleted.
func ExampleLease_Context() {
	server := zktest.NewServer()
	defer server.Close()
	client := connect(server)
	defer client.Close()

	lease, err := locks.NewInterProcessMutex(client, "/locks/nightly").Acquire(context.Background())
	if err != nil {
		log.Fatal(err)
	}
	ctx := lease.Context(context.Background())
	if err := server.Delete("/locks/nightly/" + lease.NodeName()); err != nil {
		log.Fatal(err)
	}
	<-ctx.Done()
	var lost *locks.LostError
	if errors.As(context.Cause(ctx), &lost) {
		fmt.Println(lost.Path, "is lost:", lost.Reason)
	}
	// Output:
	// /locks/nightly is lost: locks: node removed by hand
}

func ExampleWithin() {
	server := zktest.NewServer()
	defer server.Close()
	client, err := framework.NewClient(server.Addr())
	if err != nil {
		log.Fatal(err)
	}
	defer client.Close()
	ctx := context.Background()
	mutex := locks.NewInterProcessMutex(client, "/locks/nightly")
	lease, err := mutex.Acquire(ctx)
	if err != nil {
		log.Fatal(err)
	}
	defer lease.Release()

	// Another contender waits for 50 ms. Its ctx does not own the lease.
	_, err = locks.Within(mutex, 50*time.Millisecond).Acquire(ctx)
	fmt.Println(errors.Is(err, locks.ErrNotAcquired))
	// Output: true
}

func ExampleDo() {
	server := zktest.NewServer()
	defer server.Close()
	client := connect(server)
	defer client.Close()

	mutex := locks.NewInterProcessMutex(client, "/locks/report")
	err := locks.Do(context.Background(), mutex, func(ctx context.Context) error {
		fmt.Println("only one process is here")
		return nil
	})
	fmt.Println("error:", err)
	// Output:
	// only one process is here
	// error: <nil>
}

func ExampleInterProcessMutex_TryAcquire() {
	server := zktest.NewServer()
	defer server.Close()
	one, other := connect(server), connect(server)
	defer one.Close()
	defer other.Close()
	ctx := context.Background()

	lease, err := locks.NewInterProcessMutex(one, "/locks/cron").TryAcquire(ctx)
	if err != nil {
		log.Fatal(err)
	}
	_, err = locks.NewInterProcessMutex(other, "/locks/cron").TryAcquire(ctx)
	if errors.Is(err, locks.ErrNotAcquired) {
		fmt.Println("another process does it")
	}
	fmt.Println("error:", lease.Release())
	// Output:
	// another process does it
	// error: <nil>
}

// A wait is bounded by its context, and the error says where it stood.
func ExampleAcquireError() {
	server := zktest.NewServer()
	defer server.Close()
	one, other := connect(server), connect(server)
	defer one.Close()
	defer other.Close()

	lease, err := locks.NewInterProcessMutex(one, "/jobs/nightly").Acquire(context.Background())
	if err != nil {
		log.Fatal(err)
	}
	defer func() { _ = lease.Release() }()
	ctx, giveUp := context.WithCancel(context.Background())
	defer giveUp()
	impatient := locks.Trace{Waiting: func(context.Context, locks.Waiting) { giveUp() }}
	_, err = locks.NewInterProcessMutex(other, "/jobs/nightly", locks.WithTrace(impatient)).Acquire(ctx)
	var failed *locks.AcquireError
	if errors.As(err, &failed) {
		fmt.Printf("%q: %d ahead, the nearest is the holder: %t\n", failed.Path, failed.Ahead, failed.Predecessor == lease.NodeName())
	}
	fmt.Println(errors.Is(err, context.Canceled))
	// Output:
	// "/jobs/nightly": 1 ahead, the nearest is the holder: true
	// true
}

// A write that must happen only under the lock takes the lease's check into its transaction: the server then refuses it
// when the lock has passed to another holder.
func ExampleLease_Check() {
	server := zktest.NewServer()
	defer server.Close()
	client := connect(server)
	defer client.Close()
	ctx := context.Background()
	if _, _, err := client.Create(ctx, "/balance", []byte("100")); err != nil {
		log.Fatal(err)
	}

	lease, err := locks.NewInterProcessMutex(client, "/locks/balance").Acquire(ctx)
	if err != nil {
		log.Fatal(err)
	}
	guard := lease.Check()
	_, err = client.Transaction(ctx, guard, framework.SetOp("/balance", []byte("90"), -1))
	fmt.Println("while it is held:", err)

	if err := lease.Release(); err != nil {
		log.Fatal(err)
	}
	_, err = client.Transaction(ctx, guard, framework.SetOp("/balance", []byte("80"), -1)) // a writer that is late
	fmt.Println("too late:", errors.Is(err, zk.ErrNoNode))
	data, _, _ := client.Get(ctx, "/balance")
	fmt.Println("balance:", string(data))
	// Output:
	// while it is held: <nil>
	// too late: true
	// balance: 90
}

// A store that cannot take part in a transaction remembers the greatest token, and refuses who comes with a smaller
// one.
func ExampleLease_FencingToken() {
	server := zktest.NewServer()
	defer server.Close()
	client := connect(server)
	defer client.Close()
	mutex := locks.NewInterProcessMutex(client, "/locks/store")

	var greatest int64
	for range 3 {
		lease, err := mutex.Acquire(context.Background())
		if err != nil {
			log.Fatal(err)
		}
		fmt.Println("accepted:", lease.FencingToken() > greatest)
		greatest = lease.FencingToken()
		if err := lease.Release(); err != nil {
			log.Fatal(err)
		}
	}
	// Output:
	// accepted: true
	// accepted: true
	// accepted: true
}

// Goroutines that want one lock for moments hand it over to each other. A store that they write to compares the pair of
// token and count, and so knows which write is the later one, also between holds that share a node.
func ExampleInterProcessMutex_Retained() {
	server := zktest.NewServer()
	defer server.Close()
	client := connect(server)
	defer client.Close()

	type fence struct{ token, count int64 }
	var newest fence // what the store remembers
	write := func(by fence) bool {
		if cmp.Or(cmp.Compare(by.token, newest.token), cmp.Compare(by.count, newest.count)) < 0 {
			return false
		}
		newest = by
		return true
	}

	mutex := locks.NewInterProcessMutex(client, "/locks/accounts").Retained()
	fences := make(chan fence, 50) // in the order in which they held the lock
	var workers sync.WaitGroup
	for range 50 {
		workers.Go(func() {
			lease, err := mutex.Acquire(context.Background())
			if err != nil {
				log.Fatal(err)
			}
			fences <- fence{lease.FencingToken(), lease.FencingCount()}
			if err := lease.Release(); err != nil {
				log.Fatal(err)
			}
		})
	}
	workers.Wait()
	first := <-fences
	fmt.Println("written:", write(first))
	for range 49 {
		if !write(<-fences) {
			fmt.Println("an earlier holder came later")
		}
	}
	fmt.Println("who held it first is too late:", !write(first))
	// Output:
	// written: true
	// who held it first is too late: true
}
