package locks_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"net"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/framework/zktest"
	"github.com/gocurator/curator/recipes/internal/sampletest"
	"github.com/gocurator/curator/recipes/locks"
)

const (
	shedQueues  = 500                    // each with a holder and a waiter, so that there are a thousand clients; a sample is a quarter
	shedConnect = 100 * time.Millisecond // what a connection takes, so that clients are away for a while
)

// A shedClient is one of the clients, and its place in its queue.
type shedClient struct {
	client  *framework.Client
	session int64
	dialled atomic.Int64
	granted atomic.Bool
	lease   *locks.Lease // once granted
}

// A shedding is an ensemble with the clients, whose first half holds one lock each, and whose second half waits for
// these in the same order.
type shedding struct {
	ens    *zktest.Ensemble
	queues int
	all    []*shedClient
}

func newShedding(t *testing.T) *shedding {
	t.Helper()
	s := &shedding{ens: zktest.NewEnsemble(3), queues: sampletest.New(t).Scale(shedQueues, 4)}
	s.all = make([]*shedClient, 2*s.queues)
	t.Cleanup(func() { _ = s.ens.Close() })
	var group errgroup.Group
	for i := range s.all {
		group.Go(func() (err error) {
			s.all[i], err = s.connect(t)
			return err
		})
	}
	must(t, group.Wait())
	acquiring := make([]errgroup.Group, 2)
	for i, c := range s.all {
		if i == s.queues {
			must(t, acquiring[0].Wait())
		}
		acquiring[i/s.queues].Go(func() (err error) {
			c.lease, err = locks.NewInterProcessMutex(c.client, s.path(i)).Acquire(t.Context())
			c.granted.Store(err == nil)
			return err
		})
	}
	time.Sleep(sessionTimeout) // a client whose connection ends within a second pauses before the next
	synctest.Wait()
	return s
}

func (s *shedding) path(i int) string { return fmt.Sprint("/locks/", i%s.queues) }

func (s *shedding) connect(t *testing.T) (*shedClient, error) {
	c := new(shedClient)
	var err error
	c.client, err = framework.NewClient(strings.Join(s.ens.Addrs(), ","), framework.WithSessionTimeout(sessionTimeout),
		framework.WithDialer(func(ctx context.Context, network, address string) (net.Conn, error) {
			c.dialled.Add(1)
			time.Sleep(shedConnect)
			return s.ens.DialContext(ctx, network, address)
		}))
	if err != nil {
		return nil, err
	}
	t.Cleanup(func() { _ = c.client.Close() })
	session, err := c.client.Session(t.Context())
	if err != nil {
		return nil, err
	}
	c.session = session.ID()
	return c, nil
}

// cut ends the connections of nine of ten clients at one moment, and returns which clients these are. A client may be back
// before the last one is cut: none is cut twice, since sessions are common to the servers.
func (s *shedding) cut(seed uint64) map[*shedClient]bool {
	shuffled := slices.Clone(s.all)
	rand.New(rand.NewPCG(seed, 0)).Shuffle(len(shuffled), func(i, j int) {
		shuffled[i], shuffled[j] = shuffled[j], shuffled[i]
	})
	cut := map[*shedClient]bool{}
	for _, c := range shuffled[:len(s.all)*9/10] {
		s.ens.Server(0).CutSession(c.session)
		cut[c] = true
	}
	return cut
}

// nodes lists the nodes of all queues.
func (s *shedding) nodes() (all []string) {
	for i := range s.queues {
		for _, node := range s.ens.Server(0).Children(s.path(i)) {
			all = append(all, s.path(i)+"/"+node)
		}
	}
	return all
}

func (s *shedding) wantSessions(t *testing.T) {
	t.Helper()
	ours := map[int64]bool{}
	for _, c := range s.all {
		ours[c.session] = true
	}
	sessions := s.ens.Server(0).Sessions()
	for _, session := range sessions {
		if !ours[session.ID] || !session.Connected {
			t.Errorf("got session %#x, connected: %v; want only the first session of each client, connected", session.ID, session.Connected)
		}
	}
	if len(sessions) != len(s.all) {
		t.Errorf("got %d sessions, want %d", len(sessions), len(s.all))
	}
}

// ZooKeeper 3.10 can close a share of its connections at one moment, by an operator's command.
func TestNineOfTenClientsCutAtOneMomentKeepTheirLocks(t *testing.T) {
	zktest.Bubble(t, func(t *testing.T) {
		s := newShedding(t)
		before, reads := s.nodes(), s.ens.Server(0).Counts()[zktest.OpGetData]
		cut := s.cut(1)
		synctest.Wait()
		if got := s.connections(); got != len(s.all)-len(cut) {
			t.Errorf("got %d connections while clients are away, want %d", got, len(s.all)-len(cut))
		}
		time.Sleep(shedConnect)
		synctest.Wait()
		for i, c := range s.all {
			want := int64(1)
			if cut[c] {
				want = 2
			}
			if got := c.dialled.Load(); got != want {
				t.Errorf("client %d: got %d attempts to connect, want %d", i, got, want)
			}
			if holds := i < s.queues; c.granted.Load() != holds {
				t.Errorf("client %d: got granted: %v, want %v", i, !holds, holds)
			} else if holds && c.lease.Err() != nil {
				t.Errorf("client %d: got %v, want that it holds its lock", i, c.lease.Err())
			}
		}
		s.wantSessions(t)
		if after := s.nodes(); !slices.Equal(before, after) || len(after) != len(s.all) {
			t.Errorf("got %d nodes, %d before; want the same %d", len(after), len(before), len(s.all))
		}
		// A holder reads its own node again, and a waiter that and its predecessor's.
		want := 0
		for i, c := range s.all {
			if cut[c] {
				want += 1 + i/s.queues
			}
		}
		if got := s.ens.Server(0).Counts()[zktest.OpGetData] - reads; got != want {
			t.Errorf("got %d reads of nodes by clients that are back, want %d", got, want)
		}
		// Clients choose at random, so the spread is that of a coin.
		for i := range s.ens.Size() {
			got := s.ens.Server(i).Connections()
			t.Logf("server %d has %d connections", i, got)
			if got < len(s.all)/6 {
				t.Errorf("server %d: got %d of %d connections, want about a third", i, got, len(s.all))
			}
		}
		s.release(t, 0, s.queues)
	})
}

func (s *shedding) connections() (total int) {
	for i := range s.ens.Size() {
		total += s.ens.Server(i).Connections()
	}
	return total
}

// release releases the locks of some queues at one moment, and wants that the waiters of these hold them then, and no
// others.
func (s *shedding) release(t *testing.T, from, to int) {
	t.Helper()
	var group errgroup.Group
	for _, c := range s.all[from:to] {
		group.Go(c.lease.Release)
	}
	wantErr(t, group.Wait())
	time.Sleep(sessionTimeout / 4)
	synctest.Wait()
	for i, c := range s.all[s.queues:] {
		if want := from <= i && i < to; c.granted.Load() != want {
			t.Errorf("waiter %d: got granted: %v, want %v", i, !want, want)
		} else if want && c.lease.Err() != nil {
			t.Errorf("waiter %d: got %v from its lease, want nil", i, c.lease.Err())
		}
	}
}

// Holders release while most waiters are away, and so hear no event: these find it out when they are back.
func TestLocksReleasedWhileWaitersAreCutAreGranted(t *testing.T) {
	zktest.Bubble(t, func(t *testing.T) {
		s := newShedding(t)
		s.cut(2)
		s.release(t, 0, s.queues/2)
		s.wantSessions(t)
		for i, c := range s.all[s.queues/2 : s.queues] {
			if err := c.lease.Err(); err != nil {
				t.Errorf("holder %d: got %v, want that it holds its lock", s.queues/2+i, err)
			}
		}
	})
}
