package locks_test

import (
	"context"
	"fmt"
	"net"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/framework/zktest"
	"github.com/gocurator/curator/recipes/locks"
)

// A holding client and its lease.
type holding struct {
	client  *framework.Client
	session int64
	lease   *locks.Lease
	dialled *atomic.Int64
}

// ZooKeeper 3.10 can close a share of its connections at one moment, by an operator's command.
func TestNineOfTenClientsCutAtOneMomentKeepTheirLocks(t *testing.T) {
	const clients, cut = 1000, 900
	zktest.Bubble(t, func(t *testing.T) {
		ens := zktest.NewEnsemble(3)
		t.Cleanup(func() { _ = ens.Close() })
		holders := make([]*holding, clients)
		var group errgroup.Group
		for i := range holders {
			group.Go(func() (err error) {
				holders[i], err = holdOne(t, ens, fmt.Sprint("/locks/", i))
				return err
			})
		}
		if err := group.Wait(); err != nil {
			t.Fatal(err)
		}
		for _, server := range serversOf(ens) {
			for _, h := range holders[:cut] {
				server.CutSession(h.session)
			}
		}
		time.Sleep(sessionTimeout / 4)
		synctest.Wait()
		for i, h := range holders {
			if err := h.lease.Err(); err != nil {
				t.Fatalf("client %d: got %v, want that it holds its lock", i, err)
			}
			session, err := h.client.Session(t.Context())
			if err != nil || session.ID() != h.session || !session.Connected() {
				t.Fatalf("client %d: got session %v, %v, want %#x, connected", i, session, err, h.session)
			}
			want := int64(1)
			if i < cut {
				want = 2
			}
			if got := h.dialled.Load(); got != want {
				t.Errorf("client %d: got %d attempts to connect, want %d", i, got, want)
			}
		}
		// Clients choose at random, so the spread is that of a coin.
		for i, server := range serversOf(ens) {
			got := server.Connections()
			t.Logf("server %d has %d connections", i, got)
			if got < clients/6 {
				t.Errorf("server %d: got %d of %d connections, want about a third", i, got, clients)
			}
		}
		time.Sleep(2 * sessionTimeout)
		for i, h := range holders {
			if err := h.lease.Release(); err != nil {
				t.Errorf("client %d: got %v from the release two session timeouts later, want nil", i, err)
			}
		}
	})
}

// holdOne connects a client to an ensemble, and acquires a lock.
func holdOne(t *testing.T, ens *zktest.Ensemble, path string) (*holding, error) {
	h := &holding{dialled: new(atomic.Int64)}
	var err error
	h.client, err = framework.NewClient(strings.Join(ens.Addrs(), ","), framework.WithSessionTimeout(sessionTimeout),
		framework.WithDialer(func(ctx context.Context, network, address string) (net.Conn, error) {
			h.dialled.Add(1)
			return ens.DialContext(ctx, network, address)
		}))
	if err != nil {
		return nil, err
	}
	t.Cleanup(func() { _ = h.client.Close() })
	session, err := h.client.Session(t.Context())
	if err != nil {
		return nil, err
	}
	h.session = session.ID()
	h.lease, err = locks.NewInterProcessMutex(h.client, path).Acquire(t.Context())
	return h, err
}

func serversOf(ens *zktest.Ensemble) (all []*zktest.Server) {
	for i := range ens.Size() {
		all = append(all, ens.Server(i))
	}
	return all
}
