package zktest_test

import (
	"errors"
	"fmt"
	"net"
	"time"

	"github.com/go-zookeeper/zk"

	"github.com/gocurator/curator/framework/zktest"
)

// connectTo returns a client of go-zookeeper over in-memory connections.
func connectTo(dialer zk.Dialer) *zk.Conn {
	conn, _, err := zk.Connect([]string{"any:2181"}, time.Hour, zk.WithDialer(dialer), zk.WithHostProvider(&hosts{}), zk.WithLogger(quiet{}))
	if err != nil {
		panic(err)
	}
	return conn
}

func Example() {
	srv := zktest.NewServer()
	defer srv.Close()

	conn := connectTo(srv.Dial)
	defer conn.Close()
	path, err := conn.Create("/jobs", []byte("nightly"), 0, zk.WorldACL(zk.PermAll))
	fmt.Println(path, err)

	data, _ := srv.Data("/jobs") // what the server has
	fmt.Printf("%s, %v\n", data, srv.Children("/"))
	// Output:
	// /jobs <nil>
	// nightly, [jobs zookeeper]
}

// Any client in any language can connect to Addr.
func ExampleServer_Addr() {
	srv := zktest.NewServer()
	defer srv.Close()

	conn, err := net.Dial("tcp", srv.Addr())
	if err != nil {
		panic(err)
	}
	defer conn.Close()
	fmt.Fprint(conn, "ruok")
	var answer [4]byte
	conn.Read(answer[:])
	fmt.Printf("%s\n", answer)
	// Output: imok
}

// The server creates the node, but the client cannot know.
func ExampleServer_DropReply() {
	srv := zktest.NewServer()
	defer srv.Close()
	conn := connectTo(srv.Dial)
	defer conn.Close()

	srv.DropReply(zktest.Match{Op: zktest.OpCreate, Path: "/lock-*"})
	_, err := conn.Create("/lock-1", nil, 0, zk.WorldACL(zk.PermAll))
	fmt.Println(errors.Is(err, zk.ErrConnectionClosed), srv.Exists("/lock-1"))
	// Output: true true
}

// A session ends without its client having done anything wrong.
func ExampleServer_ExpireSession() {
	srv := zktest.NewServer()
	defer srv.Close()
	conn := connectTo(srv.Dial)
	defer conn.Close()
	if _, err := conn.Create("/worker", nil, zk.FlagEphemeral, zk.WorldACL(zk.PermAll)); err != nil {
		panic(err)
	}

	id := conn.SessionID()
	fmt.Println(srv.Sessions()[0].Ephemerals)
	srv.ExpireSession(id)
	fmt.Println(srv.Exists("/worker"))
	// Output:
	// [/worker]
	// false
}

// Count what an operation costs.
func ExampleServer_Observe() {
	srv := zktest.NewServer()
	defer srv.Close()
	conn := connectTo(srv.Dial)
	defer conn.Close()
	if _, err := conn.Create("/a", nil, 0, zk.WorldACL(zk.PermAll)); err != nil {
		panic(err)
	}

	stop := srv.Observe(func(r zktest.Request) { fmt.Println(r.Op, r.Path) })
	conn.Exists("/a")
	conn.Delete("/a", -1)
	stop()
	// Output:
	// exists /a
	// delete /a
}

// Hear of a deletion at the moment at which the server executes it, without a watch.
func ExampleServer_ObserveTransactions() {
	srv := zktest.NewServer()
	defer srv.Close()
	conn := connectTo(srv.Dial)
	defer conn.Close()

	stop := srv.ObserveTransactions(func(t zktest.Transaction) {
		for _, c := range t.Changes {
			fmt.Println(c.Kind, c.Path, t.EndsSession)
		}
	})
	defer stop()
	if _, err := conn.Create("/worker", nil, zk.FlagEphemeral, zk.WorldACL(zk.PermAll)); err != nil {
		panic(err)
	}
	srv.ExpireSession(conn.SessionID())
	// Output:
	// Created /worker false
	// Deleted /worker true
}

// A follower shows the past until it may catch up.
func ExampleEnsemble() {
	ens := zktest.NewEnsemble(2, zktest.WithSyncLimit(time.Hour))
	defer ens.Close()
	conn := connectTo(ens.Server(1).Dial)
	defer conn.Close()
	if _, err := conn.Sync("/"); err != nil {
		panic(err)
	}

	ens.Isolate(1)
	if err := ens.Leader().Create("/news", nil); err != nil {
		panic(err)
	}
	before, _, _ := conn.Exists("/news")
	ens.Rejoin(1)
	conn.Sync("/news")
	after, _, _ := conn.Exists("/news")
	fmt.Println(before, after)
	// Output: false true
}
