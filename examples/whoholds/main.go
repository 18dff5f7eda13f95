// Whoholds tells who holds a lock and who waits for it, since when, and from where. It can ask the holder to leave.
//
//	go run ./examples/whoholds -zk zk1:2181 /locks/nightly
//	go run ./examples/whoholds -zk zk1:2181 -revoke /locks/nightly   # asks, and waits until the holder has left
//	go run ./examples/whoholds                                       # on a server in memory, with a queue to look at
//
// It knows mutexes, read/write locks and semaphores, of this library, of Java Curator and of kazoo, and the elections of
// LeaderSelectors and LeaderLatches. It takes no lock and deletes nothing. Its exit status is 1 if a holder that was asked has not
// left in time. The leader among latches is not asked: a write to its node would leave a Java latch behind it deaf to its end.
package main

import (
	"context"
	_ "embed"
	"errors"
	"flag"
	"fmt"
	"slices"
	"time"

	"github.com/gocurator/curator/examples/internal/demo"
	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/recipes/locks"
)

var (
	revoke = flag.Bool("revoke", false, "ask the holders to leave, and wait until they have")
	wait   = flag.Duration("wait", 10*time.Second, "how long to wait for that")
)

//go:embed main.go
var source string // -h prints the comment at its head

func main() {
	demo.Main(func(ctx context.Context, env *demo.Env) error {
		switch {
		case !env.Real && flag.NArg() == 0:
			return example(ctx, env)
		case env.Real && flag.NArg() == 1:
			return look(ctx, env, env.Client().NonNamespaceView(), flag.Arg(0), *revoke, *wait)
		default:
			return &demo.UsageError{Err: errors.New("say which servers and which lock: whoholds -zk host:port /path/of/the/lock")}
		}
	}, demo.About(source), demo.Args(1))
}

// look prints who stands at a lock, and asks the holders to leave if that is wanted.
func look(ctx context.Context, env *demo.Env, client *framework.Client, path string, revoke bool, wait time.Duration) error {
	all, err := read(ctx, client, path)
	if err != nil {
		return err
	}
	env.Print(table(path, all, time.Now()))
	if !revoke {
		return nil
	}
	asked := holders(all)
	if slices.ContainsFunc(asked, func(s standing) bool { return isLatch(s.name()) }) {
		return errors.New("a LeaderLatch cannot be asked to leave: end its process in the ordinary way")
	}
	for _, h := range asked {
		if err := locks.AttemptRevoke(ctx, client, h.Path); err != nil {
			return err
		}
		env.Print("\nasked " + h.name() + " to leave\n")
	}
	ctx, cancel := context.WithTimeout(ctx, wait)
	defer cancel()
	for _, h := range asked {
		if err := gone(ctx, client, h.Path); err != nil {
			return fmt.Errorf("%s was asked and has not left: %w", h.name(), err)
		}
		env.Print(h.name() + " has left\n")
	}
	return nil
}

// gone waits until a node is gone.
func gone(ctx context.Context, client *framework.Client, path string) error {
	for {
		stat, err := client.Exists(ctx, path)
		if err != nil || stat == nil {
			return err
		}
		select {
		case <-time.After(100 * time.Millisecond):
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// example looks at a queue of its own making, whose holder leaves when it is asked to.
func example(ctx context.Context, env *demo.Env) error {
	const path = "/locks/nightly"
	mutex := func(who string) *locks.InterProcessMutex {
		return locks.NewInterProcessMutex(env.Client(), path, locks.WithLockData([]byte(who)))
	}
	first, err := mutex("billing at host7").Acquire(ctx)
	if err != nil {
		return err
	}
	go func() {
		<-first.RevocationRequested() // the holder finishes what it is at, and leaves
		_ = first.Release()           // the example sees whether it has
	}()
	ctx, cancel := context.WithCancel(ctx)
	second := make(chan error, 1)
	waiter := mutex("reports at host9")
	go func() {
		lease, err := waiter.Acquire(ctx)
		if err == nil {
			err = lease.Release()
		}
		second <- err
	}()
	defer cancel()

	client := env.Client()
	for {
		line, err := read(ctx, client, path)
		if err != nil {
			return err
		}
		if len(line) == 2 {
			break
		}
		time.Sleep(10 * time.Millisecond)
	}
	if err := look(ctx, env, client, path, true, 5*time.Second); err != nil {
		return err
	}
	return <-second
}
