//go:build unix

package main

import (
	"context"
	"fmt"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/integration/zookeeper"
	"github.com/gocurator/curator/recipes/locks"
)

// Names of groups.
const (
	noHolder = "none holds"
	byLeader = "renewed by the leader"
	byQuorum = "renewed by a quorum"
)

// A group is clients that renew in one way.
type group struct {
	name    string
	clients []*framework.Client
	leases  []*locks.Lease
}

// crowd is how many connect, acquire or release at a time.
const crowd = 50

func connectGroups(ctx context.Context, e *zookeeper.Ensemble, holders int, timeout time.Duration) ([]*group, error) {
	leader := &group{name: byLeader}
	quorum := &group{name: byQuorum}
	groups := []*group{leader, quorum}
	for _, g := range groups {
		var opts []framework.Option
		if g == leader {
			opts = append(opts, framework.WithSyncRenewal())
		}
		if err := g.connect(ctx, e, holders, timeout, opts); err != nil {
			for _, g := range groups {
				g.close()
			}
			return nil, err
		}
	}
	return groups, nil
}

// connect spreads the clients over the servers, and goes past the servers' proxies.
func (g *group) connect(ctx context.Context, e *zookeeper.Ensemble, n int, timeout time.Duration, opts []framework.Option) error {
	members := e.Members()
	for i := range n {
		client, err := framework.NewClient(members[i%len(members)].Server.Addr(), append([]framework.Option{
			framework.WithSessionTimeout(timeout), framework.WithConnectionTimeout(time.Minute),
		}, opts...)...)
		if err != nil {
			return err
		}
		g.clients = append(g.clients, client)
		if len(g.clients)%crowd == 0 || len(g.clients) == n {
			for _, c := range g.clients[max(0, len(g.clients)-crowd):] {
				if err := c.BlockUntilConnected(ctx); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

func (g *group) acquire(ctx context.Context) error {
	g.leases = make([]*locks.Lease, len(g.clients))
	var all errgroup.Group
	all.SetLimit(crowd)
	for i, client := range g.clients {
		all.Go(func() (err error) {
			g.leases[i], err = locks.NewInterProcessMutex(client, fmt.Sprintf("/%s/%d", locksOf(g.name), i)).Acquire(ctx)
			return err
		})
	}
	return all.Wait()
}

func locksOf(name string) string {
	if name == byQuorum {
		return "quorum"
	}
	return "leader"
}

// lost is how many leases have ended by themselves.
func (g *group) lost() (n int) {
	for _, lease := range g.leases {
		if lease.Err() != nil {
			n++
		}
	}
	return n
}

// release releases every lease; one that was lost has been counted.
func (g *group) release() error {
	var all errgroup.Group
	all.SetLimit(crowd)
	for _, lease := range g.leases {
		all.Go(func() error {
			if lease.Err() != nil {
				return nil //nolint:nilerr // it was lost
			}
			return lease.Release()
		})
	}
	return all.Wait()
}

func (g *group) close() {
	var all sync.WaitGroup
	for _, client := range g.clients {
		all.Go(func() { _ = client.Close() })
	}
	all.Wait()
}
