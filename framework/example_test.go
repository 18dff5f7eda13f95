package framework_test

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/go-zookeeper/zk"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/framework/zktest"
	"github.com/gocurator/curator/retry"
)

func ExampleNewClient() {
	srv := zktest.NewServer() // stands for an ensemble
	defer srv.Close()

	client, err := framework.NewClient("zk1:2181,zk2:2181,zk3:2181",
		framework.WithDialer(srv.DialContext),
		framework.WithSessionTimeout(30*time.Second),
		framework.WithRetryPolicy(retry.ExponentialBackoff(time.Second, 3)))
	if err != nil {
		fmt.Println(err)
		return
	}
	defer client.Close()

	if err := client.BlockUntilConnected(context.Background()); err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(client.State())
	// Output: CONNECTED
}

// Everything that is wrong is named at once.
func ExampleNewClient_refused() {
	_, err := framework.NewClient("zk1:99999,zk2:2181", framework.WithSessionTimeout(-time.Second))
	fmt.Println(err)
	// Output:
	// framework: invalid client: server "zk1:99999": port must be a number from 1 to 65535; session timeout must be positive, is -1s
}

func ExampleClient_Create() {
	client, end := exampleClient()
	defer end()
	ctx := context.Background()

	path, _, err := client.Create(ctx, "/config/colour", []byte("green"), framework.CreatingParentsIfNeeded())
	if err != nil {
		fmt.Println(err)
		return
	}
	data, stat, err := client.Get(ctx, path)
	fmt.Println(path, string(data), stat.Version, err)

	_, _, err = client.Create(ctx, "/config/colour", nil)
	fmt.Println(errors.Is(err, zk.ErrNodeExists))
	// Output:
	// /config/colour green 0 <nil>
	// true
}

func ExampleClient_OnStateChange() {
	srv := zktest.NewServer()
	defer srv.Close()
	client, err := framework.NewClient("zk:2181", framework.WithDialer(srv.DialContext))
	if err != nil {
		fmt.Println(err)
		return
	}
	defer client.Close()

	states := make(chan framework.State)
	stop := client.OnStateChange(func(change framework.StateChange) { states <- change.State })
	defer stop()
	fmt.Println(<-states)
	srv.CutAll()
	fmt.Println(<-states)
	fmt.Println(<-states)
	// Output:
	// CONNECTED
	// SUSPENDED
	// RECONNECTED
}

func ExampleClient_Transaction() {
	client, end := exampleClient()
	defer end()
	ctx := context.Background()

	results, err := client.Transaction(ctx,
		framework.CreateOp("/order", []byte("new")),
		framework.CreateOp("/order/item-", nil, framework.WithMode(framework.PersistentSequential)))
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(results[0].Path, results[1].Path)

	_, err = client.Transaction(ctx,
		framework.SetOp("/order", []byte("paid"), 0),
		framework.CheckOp("/invoice", -1))
	var failed *framework.TransactionError
	fmt.Println(errors.As(err, &failed), failed.Index, errors.Is(err, zk.ErrNoNode))
	// Output:
	// /order /order/item-0000000000
	// true 1 true
}

// exampleClient is a client of a server in memory.
func exampleClient() (client *framework.Client, end func()) {
	srv := zktest.NewServer()
	client, err := framework.NewClient("zk:2181", framework.WithDialer(srv.DialContext))
	if err != nil {
		panic(err)
	}
	return client, func() {
		client.Close()
		srv.Close()
	}
}
