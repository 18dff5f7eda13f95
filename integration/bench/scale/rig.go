package main

import (
	"context"
	"errors"
	"fmt"
	"net"
	"time"

	"github.com/go-zookeeper/zk"
	"golang.org/x/sync/errgroup"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/recipes/locks"
)

// sessionTimeout is longer than what servers grant, 40 seconds: no client may lose its session because the machine is
// busy.
const sessionTimeout = 60 * time.Second

// atOnce is how many things are done side by side where it does not matter how many.
const atOnce = 64

// A rig is a server, and the clients that talk to it.
type rig struct {
	site
	wire tally // what its counted clients do
}

// onServer does something on a server of its own.
func (l *lab) onServer(ctx context.Context, do func(*rig) error) (err error) {
	s, err := l.start(ctx)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, s.Close()) }()
	r := &rig{site: s}
	if err := r.warm(ctx, l.lasts); err != nil {
		return err
	}
	return do(r)
}

// warm has the server work for a while: one that has just started is slow.
func (r *rig) warm(ctx context.Context, lasts time.Duration) (err error) {
	const clients = 8
	all, err := r.open(ctx, clients, r.counted)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, closeAll(all)) }()
	mutexes := make([]*locks.InterProcessMutex, clients)
	for i, client := range all {
		mutexes[i] = locks.NewInterProcessMutex(client, fmt.Sprintf("/scale/warm-%d", i))
	}
	_, err = throughput(ctx, mutexes, lasts)
	return err
}

// open makes clients that are connected.
func (r *rig) open(ctx context.Context, n int, dial func(ctx context.Context, network, address string) (net.Conn, error)) ([]*framework.Client, error) {
	all := make([]*framework.Client, n)
	err := each(ctx, n, func(ctx context.Context, i int) (err error) {
		all[i], err = framework.NewClient(r.address(), framework.WithDialer(dial), framework.WithSessionTimeout(sessionTimeout),
			framework.WithConnectionTimeout(30*time.Second), framework.WithDefaultData([]byte("127.0.0.1")))
		if err != nil {
			return err
		}
		return all[i].BlockUntilConnected(ctx)
	})
	if err != nil {
		return nil, errors.Join(err, closeAll(all))
	}
	return all, nil
}

func closeAll(clients []*framework.Client) error {
	// It has to be done also if the context is over.
	return each(context.Background(), len(clients), func(_ context.Context, i int) error {
		if clients[i] != nil {
			_ = clients[i].Close() // a busy server may not confirm it in time
		}
		return nil
	})
}

// each does something for 0 … n-1, side by side.
func each(ctx context.Context, n int, do func(ctx context.Context, i int) error) error {
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(atOnce)
	for i := range n {
		group.Go(func() error { return do(ctx, i) })
	}
	return group.Wait()
}

// direct connects with the server.
func (*rig) direct(ctx context.Context, _, address string) (net.Conn, error) {
	return connect(ctx, address)
}

// counted connects with the server, and counts what goes there and what comes from there.
func (r *rig) counted(ctx context.Context, _, address string) (net.Conn, error) {
	return r.wire.dial(ctx, "", address)
}

// expireAll ends sessions.
func (r *rig) expireAll(ctx context.Context, ids []int64) error {
	return each(ctx, len(ids), func(_ context.Context, i int) error { return r.expire(ids[i]) })
}

// empty waits until a lock's directory is empty: nodes of waits that were given up are removed in the background.
func empty(ctx context.Context, client *framework.Client, path string) error {
	for deadline := time.Now().Add(time.Minute); ; {
		children, _, err := client.Children(ctx, path)
		switch {
		case errors.Is(err, zk.ErrNoNode), err == nil && len(children) == 0:
			return nil
		case err != nil:
			return err
		case time.Now().After(deadline):
			return fmt.Errorf("%d nodes are left in %s", len(children), path)
		}
		time.Sleep(10 * time.Millisecond)
	}
}
