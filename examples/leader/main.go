// Leader shows a service of several replicas, one of which leads and does the work that must be done once. The others
// stand by. A replica that is stopped lets the next one lead; a replica that is cut off stops before another one leads.
//
//	go run -C examples ./leader                # three replicas on a server in memory; one is stopped, one cut off
//	go run -C examples ./leader -zk zk1:2181   # the same on real ZooKeeper
//	go run -C examples ./leader -zk zk1:2181 -listen 127.0.0.1:8081 -id a   # one replica; run several
//	curl 127.0.0.1:8081/readyz              # leader or standby
//
// The exit status is 0 if all went as promised. A replica with -listen runs until SIGTERM or SIGINT; its exit status is
// 0 if it has resigned in order by then.
package main

import (
	"context"
	_ "embed"
	"errors"
	"flag"
	"fmt"
	"os"
	"time"

	"github.com/gocurator/curator/examples/internal/demo"
)

var (
	listen = flag.String("listen", "", "be one replica, and serve /healthz and /readyz at `address`; needs -zk")
	id     = flag.String("id", "", "`name` of that replica (default: its host and process)")
	pause  = flag.Duration("pause", time.Second, "how long that replica takes for an item of its work, as the leader")
)

//go:embed main.go
var source string // -h prints the comment at its head

func main() {
	demo.Main(func(ctx context.Context, env *demo.Env) error {
		switch {
		case *pause <= 0:
			return &demo.UsageError{Err: fmt.Errorf("-pause %v: must be positive", *pause)}
		case *listen == "":
			return example(ctx, env)
		case !env.Real:
			return &demo.UsageError{Err: errors.New("-listen without -zk: replicas in other processes need a server in common")}
		}
		if *id == "" {
			host, _ := os.Hostname() // without it the process number distinguishes replicas
			*id = fmt.Sprintf("%s/%d", host, os.Getpid())
		}
		return serve(ctx, env, *listen, *id, *pause)
	}, demo.About(source))
}
