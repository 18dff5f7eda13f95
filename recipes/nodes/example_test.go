package nodes_test

import (
	"context"
	"fmt"
	"log"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/framework/zktest"
	"github.com/gocurator/curator/recipes/nodes"
)

func ExamplePersistentNode() {
	server := zktest.NewServer()
	defer server.Close()
	client, err := framework.NewClient("zk:2181", framework.WithDialer(server.DialContext))
	if err != nil {
		log.Fatal(err)
	}
	defer client.Close()

	ctx := context.Background()
	node := nodes.NewPersistentNode(client, "/services/web/10.0.0.1:80", []byte("up"))
	if err := node.Start(ctx); err != nil {
		log.Fatal(err)
	}
	changes := make(chan bool, 2)
	node.OnChange(func(there bool) { changes <- there })

	session, err := client.Session(ctx)
	if err != nil {
		log.Fatal(err)
	}
	server.ExpireSession(session.ID())
	fmt.Println("there:", <-changes)
	fmt.Println("there:", <-changes)
	if err := node.Close(); err != nil {
		log.Fatal(err)
	}
	fmt.Println("left:", server.Exists("/services/web/10.0.0.1:80"))
	// Output:
	// there: false
	// there: true
	// left: false
}
