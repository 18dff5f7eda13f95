//go:build unix

package integration_test

import (
	"errors"
	"math/rand/v2"
	"sync"
	"testing"
	"time"

	"github.com/go-zookeeper/zk"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/integration/zookeeper"
	"github.com/gocurator/curator/recipes/counters"
	"github.com/gocurator/curator/recipes/locks/lockstest"
)

// multi is the request that changes a counter.
const multi = lockstest.Op(14)

// Clients add to one number while answers are lost, connections break, and sessions end: the number is the sum of what
// has counted, and of some of what may have counted, and each of these calls was one write.
func TestCountersOnARealServerNeverCountTwice(t *testing.T) {
	server := zookeeper.Start(t, zookeeper.Config{SuperPassword: superPassword})
	admin := &administrator{t: t, server: server}
	admin.connect()
	t.Cleanup(func() { admin.conn.Close() })
	const path, clients, adds = "/numbers/hits", 3, 25
	var mu sync.Mutex
	var counted, unknown, refused int
	given := map[int64]bool{}
	var group sync.WaitGroup
	for i := range clients {
		link := admin.NewLink()
		client := newClient(t, server, framework.WithDialer(link.DialContext))
		l := counters.NewDistributedAtomicLong(client, path, counters.WithLock("/locks/hits"))
		group.Go(func() {
			defer link.Heal()
			dice := rand.New(rand.NewPCG(uint64(i), 1))
			for range adds {
				spoil(admin, client, link, dice)
				before, after, err := l.Add(t.Context(), 1)
				mu.Lock()
				switch {
				case err == nil:
					counted++
					if after != before+1 || given[after] {
						t.Errorf("got %d, %d, given out before: %v", before, after, given[after])
					}
					given[after] = true
				case errors.Is(err, counters.ErrUnknown):
					unknown++
				default:
					refused++
					t.Logf("refused: %v", err)
				}
				mu.Unlock()
			}
		})
	}
	group.Wait()
	reader := newClient(t, server)
	n, err := counters.NewDistributedAtomicLong(reader, path).Get(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	stat, err := reader.Exists(t.Context(), path)
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("%d: %d counted, %d unknown, %d refused", n, counted, unknown, refused)
	if n < int64(counted) || n > int64(counted+unknown) || int64(stat.Version) != n {
		t.Errorf("got %d by %d writes, want %d and up to %d more", n, stat.Version, counted, unknown)
	}
	if unknown == 0 || counted < clients*adds/2 {
		t.Errorf("got %d counted and %d unknown, want most counted, and some faults", counted, unknown)
	}
}

// spoil does something to a client's connection, now and then.
func spoil(admin *administrator, client *framework.Client, link *lockstest.Link, dice *rand.Rand) {
	switch dice.IntN(16) {
	case 0:
		link.DropReply(multi)
	case 1:
		link.DropReply(lockstest.GetData)
	case 2:
		link.Reset()
	case 3:
		pause := time.Duration(dice.IntN(20)) * time.Millisecond
		time.AfterFunc(pause, link.Reset)
	case 4:
		if s, err := client.Session(admin.t.Context()); err == nil && s.Connected() {
			admin.ExpireSession(link, s.ID())
		}
	}
}

// The condition of a write to a node of version -1, which ZooKeeper takes for any: the transaction looks at the version
// that the write leaves. It is tried at other versions.
func TestATransactionOnARealServerSeesTheVersionThatItLeaves(t *testing.T) {
	server := zookeeper.Start(t, zookeeper.Config{})
	client := newClient(t, server)
	if _, _, err := client.Create(t.Context(), "/n", nil); err != nil {
		t.Fatal(err)
	}
	for version := range int32(5) {
		set := func(after int32) error {
			_, err := client.Transaction(t.Context(), framework.SetOp("/n", []byte{1}, -1), framework.CheckOp("/n", after))
			return err
		}
		for _, wrong := range []int32{version, version + 2} {
			if err := set(wrong); !errors.Is(err, zk.ErrBadVersion) {
				t.Errorf("from %d to %d: got %v, want ErrBadVersion", version, wrong, err)
			}
		}
		if err := set(version + 1); err != nil {
			t.Errorf("from %d to %d: got %v, want it set", version, version+1, err)
		}
	}
}
