package porting

import (
	"context"
	"errors"
	"log/slog"
	"time"

	"github.com/go-zookeeper/zk"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/retry"
)

// Connect is Client.connect.
func Connect(ctx context.Context, servers string, opts ...framework.Option) (*framework.Client, error) {
	client, err := framework.NewClient(servers, append([]framework.Option{
		framework.WithSessionTimeout(30 * time.Second),
		framework.WithConnectionTimeout(5 * time.Second),
		framework.WithRetryPolicy(retry.ExponentialBackoff(time.Second, 3)),
		framework.WithErrorPolicy(framework.SessionErrorPolicy), // the default, here
		framework.WithNamespace("app"),
		framework.WithStateListener(func(now framework.StateChange) {
			if now.State == framework.StateLost {
				slog.Warn("lost")
			}
		}),
	}, opts...)...)
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(ctx, 5*time.Second)
	defer cancel()
	if err := client.BlockUntilConnected(ctx); err != nil {
		return nil, errors.Join(err, client.Close())
	}
	return client, nil
}

// Nodes is Client.nodes.
func Nodes(ctx context.Context, client *framework.Client) ([]string, error) {
	_, _, err := client.Create(ctx, "/config/host", []byte("db1"), framework.CreatingParentContainersIfNeeded())
	if err != nil {
		return nil, err
	}
	_, _, err = client.Create(ctx, "/config/seen-", []byte{},
		framework.WithProtection(), framework.WithMode(framework.EphemeralSequential))
	if err != nil {
		return nil, err
	}
	_, stat, err := client.Get(ctx, "/config/host")
	if err != nil {
		return nil, err
	}
	_, err = client.Set(ctx, "/config/host", []byte("db2"), stat.Version+1)
	if errors.Is(err, zk.ErrBadVersion) {
		_, err = client.Set(ctx, "/config/host", []byte("db2"), -1) // -1 is any
	}
	if err != nil {
		return nil, err
	}
	stat, err = client.Exists(ctx, "/config/port")
	if err != nil {
		return nil, err
	}
	if stat != nil {
		if err := client.Delete(ctx, "/config/port", -1, framework.Guaranteed()); err != nil {
			return nil, err
		}
	}
	if err := client.Sync(ctx, "/config"); err != nil {
		return nil, err
	}
	_, err = client.Transaction(ctx,
		framework.CheckOp("/config/host", -1),
		framework.CreateOp("/config/port", []byte("5432")))
	if err != nil {
		return nil, err
	}
	children, _, err := client.UsingNamespace("app/config").Children(ctx, "/")
	return children, err
}
