// Configuration shows settings that several services share and that stand in two nodes. Any number of services read
// both under the read lock. A service that changes them holds the write lock, and then turns it into the read lock to
// announce what it wrote, so that no other writer gets in between.
//
//	go run -C examples ./configuration                # on a server in memory
//	go run -C examples ./configuration -zk zk1:2181   # on real ZooKeeper
package main

import (
	"context"
	_ "embed"
	"errors"
	"fmt"
	"sync/atomic"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/gocurator/curator/examples/internal/demo"
	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/recipes/locks"
)

//go:embed main.go
var source string // -h prints the comment at its head

func main() { demo.Main(settings, demo.About(source)) }

// config is what the services share. Host and port belong together: neither is of use with the other of another time.
type config struct {
	client *framework.Client
	lock   *locks.InterProcessReadWriteLock
}

func newConfig(client *framework.Client) config {
	return config{client, locks.NewInterProcessReadWriteLock(client, "/lock")}
}

// Read returns host and port of one and the same moment.
func (c config) Read(ctx context.Context) (host, port string, err error) {
	err = locks.Do(ctx, c.lock.ReadLock(), func(ctx context.Context) error {
		hostData, _, err := c.client.Get(ctx, "/config/host")
		if err != nil {
			return err
		}
		portData, _, err := c.client.Get(ctx, "/config/port")
		host, port = string(hostData), string(portData)
		return err
	})
	return host, port, err
}

// Update changes both, and calls announce while other services can read them but cannot have changed them again.
func (c config) Update(ctx context.Context, host, port string, announce func(ctx context.Context) error) error {
	write, err := c.lock.WriteLock().Acquire(ctx)
	if err != nil {
		return err
	}
	if err := c.write(write.Context(ctx), host, port); err != nil {
		return errors.Join(err, write.Release())
	}
	// the downgrade: its node takes the writer's place in the queue
	read, err := c.lock.ReadLock().Acquire(write.Context(ctx))
	if err := errors.Join(err, write.Release()); err != nil {
		return err
	}
	return errors.Join(announce(read.Context(ctx)), read.Release())
}

func (c config) write(ctx context.Context, host, port string) error {
	if err := demo.Put(ctx, c.client, "/config/host", host); err != nil {
		return err
	}
	return demo.Put(ctx, c.client, "/config/port", port)
}

func settings(ctx context.Context, env *demo.Env) error {
	first := newConfig(env.Client())
	if err := first.write(ctx, "db0", "5430"); err != nil {
		return err
	}
	var reads, announced atomic.Int64
	writersCtx, writersDone := context.WithCancel(ctx)
	services, servicesCtx := errgroup.WithContext(ctx)
	for range 4 {
		c := newConfig(env.Client())
		services.Go(func() error {
			for writersCtx.Err() == nil {
				host, port, err := c.Read(servicesCtx)
				if err != nil {
					return err
				}
				if !match(host, port) {
					return fmt.Errorf("a service read %s with port %s", host, port)
				}
				reads.Add(1)
				time.Sleep(2 * time.Millisecond) // the service's own work
			}
			return nil
		})
	}
	writers, ctx := errgroup.WithContext(ctx)
	for w := 1; w <= 2; w++ {
		c := newConfig(env.Client())
		writers.Go(func() error {
			for n := range 3 {
				host, port := fmt.Sprintf("db%d", 3*w+n), fmt.Sprintf("543%d", 3*w+n)
				err := c.Update(ctx, host, port, func(ctx context.Context) error {
					time.Sleep(20 * time.Millisecond) // the other writer is waiting
					nowHost, nowPort, err := c.Read(ctx)
					if err != nil || nowHost != host || nowPort != port {
						return fmt.Errorf("writer %d announces %s:%s and reads %s:%s, %w", w, host, port, nowHost, nowPort, err)
					}
					announced.Add(1)
					env.Say("writer %d announces %s:%s", w, host, port)
					return nil
				})
				if err != nil {
					return err
				}
			}
			return nil
		})
	}
	err := writers.Wait()
	writersDone()
	if err := errors.Join(err, services.Wait()); err != nil {
		return err
	}
	if announced.Load() != 6 || reads.Load() == 0 {
		return fmt.Errorf("%d changes and %d reads", announced.Load(), reads.Load())
	}
	env.Say("6 changes, %d reads: every host was read with its own port", reads.Load())
	return nil
}

// match reports whether a host and a port are of one time: they end with the same digit.
func match(host, port string) bool { return host[len(host)-1] == port[len(port)-1] }
