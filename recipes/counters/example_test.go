package counters_test

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"log"

	"github.com/go-zookeeper/zk"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/framework/zktest"
	"github.com/gocurator/curator/recipes/counters"
)

// connect makes a client of an in-memory server; yours will be of "zk1:2181,zk2:2181,zk3:2181".
func connect(server *zktest.Server) *framework.Client {
	client, err := framework.NewClient("zktest:2181", framework.WithDialer(server.DialContext))
	if err != nil {
		log.Fatal(err)
	}
	return client
}

// A count that any number of processes add to.
func ExampleDistributedAtomicLong() {
	server := zktest.NewServer()
	defer server.Close()
	client := connect(server)
	defer client.Close()
	ctx := context.Background()

	hits := counters.NewDistributedAtomicLong(client, "/hits")
	_, after, err := hits.Add(ctx, 1)
	switch {
	case errors.Is(err, counters.ErrUnknown):
		log.Print("one more or not: ", err) // not again: that may count twice
	case err != nil:
		log.Fatal("not counted: ", err)
	}
	fmt.Println("this was hit", after)

	set, err := hits.CompareAndSet(ctx, 1, 100)
	fmt.Println("corrected:", set, err)
	n, err := hits.Get(ctx)
	fmt.Println("hits:", n, err)
	// Output:
	// this was hit 1
	// corrected: true <nil>
	// hits: 100 <nil>
}

// Blocks of numbers: one Add gives out a thousand, each to one process. After ErrUnknown a block may be lost, which
// does no harm, so the program takes the next one. This is Curator's CachedAtomicLong.
func ExampleDistributedAtomicLong_Add() {
	server := zktest.NewServer()
	defer server.Close()
	client := connect(server)
	defer client.Close()
	ctx := context.Background()

	numbers := counters.NewDistributedAtomicLong(client, "/orders/numbers", counters.WithLock("/orders/numbers-lock"))
	var next, end int64
	take := func() (int64, error) {
		for next == end {
			var err error
			next, end, err = numbers.Add(ctx, 1000)
			if err != nil && (!errors.Is(err, counters.ErrUnknown) || ctx.Err() != nil) {
				return 0, err
			}
		}
		next++
		return next - 1, nil
	}
	for range 3 {
		n, err := take()
		fmt.Println(n, err)
	}
	left, err := numbers.Get(ctx)
	fmt.Println("the next block begins at", left, err)
	// Output:
	// 0 <nil>
	// 1 <nil>
	// 2 <nil>
	// the next block begins at 1000 <nil>
}

// A program that must know whether it has counted makes a node in the same transaction: what it counts, for instance.
// If the node is there it has counted, also after a lost answer, and in the next process. Counting again is refused.
func ExampleErrUnknown() {
	server := zktest.NewServer()
	defer server.Close()
	client := connect(server)
	defer client.Close()
	ctx := context.Background()
	for _, directory := range []string{"/paid", "/paid/orders"} {
		if _, _, err := client.Create(ctx, directory, nil); err != nil {
			log.Fatal(err)
		}
	}
	paid := counters.NewDistributedAtomicLong(client, "/paid/total")
	if _, err := paid.Initialize(ctx, 0); err != nil && !errors.Is(err, counters.ErrUnknown) {
		log.Fatal(err)
	}

	pay := func(order string, amount int64) error {
		for {
			data, stat, err := client.Get(ctx, "/paid/total")
			if err != nil {
				return err
			}
			total := binary.BigEndian.AppendUint64(nil, binary.BigEndian.Uint64(data)+uint64(amount))
			_, err = client.Transaction(ctx,
				framework.CreateOp("/paid/orders/"+order, nil), framework.SetOp("/paid/total", total, stat.Version))
			switch {
			case errors.Is(err, zk.ErrNodeExists):
				return nil // counted before
			case errors.Is(err, zk.ErrBadVersion), errors.Is(err, framework.ErrConnectionLost):
				continue
			}
			return err
		}
	}
	server.DropReply(zktest.Match{Op: zktest.OpMulti}) // the first answer is lost
	fmt.Println(pay("4711", 30), pay("4712", 12), pay("4711", 30))
	total, err := paid.Get(ctx)
	fmt.Println("total:", total, err)
	// Output:
	// <nil> <nil> <nil>
	// total: 42 <nil>
}
