package zktest_test

import (
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-zookeeper/zk"

	"github.com/gocurator/curator/framework/zktest"
)

// at dials one server of an ensemble.
func at(ens *zktest.Ensemble, i int) zk.Dialer { return ens.Server(i).Dial }

func ensemble(t *testing.T, f func(t *testing.T, ens *zktest.Ensemble), opts ...zktest.Option) {
	zktest.Bubble(t, func(t *testing.T) {
		ens := zktest.NewEnsemble(3, opts...)
		t.Cleanup(func() { ens.Close() })
		f(t, ens)
	})
}

func TestLaggingFollowerShowsThePastUntilSync(t *testing.T) {
	ensemble(t, func(t *testing.T, ens *zktest.Ensemble) {
		a, b := dial(t, at(ens, 0), time.Minute), dial(t, at(ens, 1), time.Minute)
		must[string](t)(b.Create("/warm", nil, 0, all))
		ens.SetLag(1, time.Second)
		must[string](t)(a.Create("/a", nil, 0, all))
		if ok, _, err := b.Exists("/a"); ok || err != nil {
			t.Fatal(ok, err)
		}
		start := time.Now()
		must[string](t)(b.Sync("/a"))
		if d := time.Since(start); d != time.Second {
			t.Fatal(d)
		}
		if ok, _, err := b.Exists("/a"); !ok || err != nil {
			t.Fatal(ok, err)
		}
		_, _, event, err := b.ExistsW("/b")
		if err != nil {
			t.Fatal(err)
		}
		start = time.Now()
		must[string](t)(b.Create("/b", nil, 0, all)) // answered when it can be seen
		if d := time.Since(start); d != time.Second || len(event) != 1 {
			t.Fatal(d, len(event))
		}
	})
}

func TestReadsWaitForTheirOwnWrites(t *testing.T) {
	ensemble(t, func(t *testing.T, ens *zktest.Ensemble) {
		c := dial(t, at(ens, 1), time.Minute)
		must[string](t)(c.Create("/a", nil, 0, all))
		ens.SetLag(1, time.Second)
		go c.Create("/a/b", nil, 0, all)
		synctest.Wait()
		start := time.Now()
		if names, _, err := c.Children("/a"); err != nil || len(names) != 1 {
			t.Fatal(names, err)
		}
		if d := time.Since(start); d != time.Second {
			t.Fatal(d)
		}
	})
}

func TestIsolatedFollowerServesReadsWhileItsSessionsEnd(t *testing.T) {
	ensemble(t, func(t *testing.T, ens *zktest.Ensemble) {
		holder, other := dial(t, at(ens, 1), 2*time.Second), dial(t, at(ens, 0), time.Minute)
		must[string](t)(holder.Create("/lock", nil, zk.FlagEphemeral, all))
		time.Sleep(10100 * time.Millisecond) // pings relayed twice a tick keep it alive; the last was 0.1 s ago
		_, _, gone, err := other.ExistsW("/lock")
		if err != nil {
			t.Fatal(err)
		}
		start := time.Now()
		ens.Isolate(1)
		write := make(chan time.Duration, 1)
		go func() {
			time.Sleep(2 * time.Second)
			holder.Set("/lock", nil, -1)
			write <- time.Since(start)
		}()
		<-gone
		if d := time.Since(start); d < 1900*time.Millisecond || d > 2100*time.Millisecond {
			t.Fatal(d)
		}
		if !ens.Server(1).Exists("/lock") || ens.Server(1).Connections() == 0 {
			t.Fatalf("got node at the follower: %t, %d connections; want a follower that has not heard of the deletion",
				ens.Server(1).Exists("/lock"), ens.Server(1).Connections())
		}
		if d := <-write; d < 3*time.Second {
			t.Fatal(d)
		}
		ens.Rejoin(1)
		synctest.Wait()
		if ens.Server(1).Exists("/lock") {
			t.Fatal("got /lock at the follower, want it deleted there too")
		}
	}, zktest.WithSyncLimit(5*time.Second))
}

func TestIsolatedFollowerGivesUpAfterTheSyncLimit(t *testing.T) {
	ensemble(t, func(t *testing.T, ens *zktest.Ensemble) {
		c := dial(t, at(ens, 1), time.Minute)
		must[string](t)(c.Create("/a", nil, 0, all))
		ens.Isolate(1)
		time.Sleep(9 * time.Second)
		if ok, _, err := c.Exists("/a"); !ok || err != nil {
			t.Fatal(ok, err)
		}
		time.Sleep(1001 * time.Millisecond)
		if n := ens.Server(1).Connections(); n != 0 {
			t.Fatal(n)
		}
		ens.Rejoin(1)
		time.Sleep(3 * time.Second)
		if _, err := c.Set("/a", nil, -1); err != nil {
			t.Fatal(err)
		}
	}, zktest.WithTickTime(2*time.Second))
}

func TestElectionKeepsDataAndSessions(t *testing.T) {
	ensemble(t, func(t *testing.T, ens *zktest.Ensemble) {
		c := dial(t, at(ens, 1), 4*time.Second)
		must[string](t)(c.Create("/e", nil, zk.FlagEphemeral, all))
		ens.SetLag(2, time.Second)
		must[string](t)(c.Create("/e2", nil, zk.FlagEphemeral, all))
		ens.Elect(2)
		if ens.Leader() != ens.Server(2) {
			t.Fatal("got another leader, want server 2")
		}
		time.Sleep(3 * time.Second)
		must[string](t)(c.Create("/e3", nil, zk.FlagEphemeral, all))
		for i := range 3 {
			if names := ens.Server(i).Children("/"); !slices.Equal(names, []string{"e", "e2", "e3", "zookeeper"}) {
				t.Fatal(i, names)
			}
		}
	})
}

func TestMovedSessionIsLostToTheOldServer(t *testing.T) {
	ensemble(t, func(t *testing.T, ens *zktest.Ensemble) {
		old, id := attach(t, ens.Server(1), nil)
		moved, again := attach(t, ens.Server(2), id)
		if string(again[:8]) != string(id[:8]) {
			t.Fatalf("got session %x, want %x", again[:8], id[:8])
		}
		if !answered(old, request(zktest.OpGetData, "/", 0)) {
			t.Fatal("got no answer of the old server to a read, want one")
		}
		if answered(old, request(zktest.OpDelete, "/a", 0, 0, 0, 0)) || answered(old, request(zktest.OpGetData, "/", 0)) {
			t.Fatal("got an answer on the old connection after a change, want none")
		}
		if !answered(moved, request(zktest.OpSync, "/")) {
			t.Fatal("got no answer on the new connection, want one")
		}
	})
}
