package comparison_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-zookeeper/zk"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/framework/zktest"
	"github.com/gocurator/curator/recipes/leader"
	"github.com/gocurator/curator/recipes/nodes"
)

const manager = "/mysync/manager"

// mysyncBefore is mysync's lock: one ephemeral node whose data says whose it is. Each process asks at every tick.
func mysyncBefore(conn *zk.Conn, self string) bool {
	owner, _, err := conn.Get(manager)
	if errors.Is(err, zk.ErrNoNode) {
		_, err = conn.Create(manager, []byte(self), zk.FlagEphemeral, everybody)
		return err == nil
	}
	return err == nil && string(owner) == self
}

// mysyncAfter stands for election; HasLeadership is what each process asks at every tick.
func mysyncAfter(ctx context.Context, client *framework.Client, self string) (*leader.LeaderLatch, error) {
	latch := leader.NewLeaderLatch(client, manager, leader.WithID(self))
	return latch, latch.Start(ctx)
}

// In a container, the host's name and the process's number are those of the container before.
const (
	container = `{"hostname":"mysql-0","pid":1}`
	other     = `{"hostname":"mysql-1","pid":1}`
)

func TestMysyncTakesItsPredecessorsDyingNodeForItsOwn(t *testing.T) {
	zktest.Bubble(t, func(t *testing.T) {
		server := zktest.New(t)
		must(t, server.Create("/mysync", nil))
		killed := newPeer(t, server)
		before, _ := killed.goZookeeper()
		restarted, _ := newPeer(t, server).goZookeeper()
		rival, _ := newPeer(t, server).goZookeeper()
		wantManager(t, "the first container", mysyncBefore(before, container), true)
		killed.link.Cut()

		wantManager(t, "the restarted one, without a node", mysyncBefore(restarted, container), true)
		if node, _ := server.Stat(manager); node.EphemeralOwner != before.SessionID() {
			t.Errorf("got the node of session %#x, want that of the first container, %#x", node.EphemeralOwner, before.SessionID())
		}
		time.Sleep(sessionTimeout + time.Second)
		wantManager(t, "the rival, while the restarted one works until its next tick", mysyncBefore(rival, other), true)
		wantManager(t, "the restarted one at its next tick", mysyncBefore(restarted, container), false)
	})
}

func TestMysyncMovedWaitsForItsPredecessorsDyingNode(t *testing.T) {
	zktest.Bubble(t, func(t *testing.T) {
		server := zktest.New(t)
		killed := newPeer(t, server)
		before := stand(t, killed, container)
		wantManager(t, "the first container", before.HasLeadership(), true)
		killed.link.Cut()

		restarted, rival := stand(t, newPeer(t, server), container), stand(t, newPeer(t, server), other)
		wantManager(t, "the restarted one, behind its predecessor's node", restarted.HasLeadership(), false)
		for range 600 { // a minute of ticks
			time.Sleep(100 * time.Millisecond)
			if leads := restarted.HasLeadership(); before.HasLeadership() && leads || rival.HasLeadership() {
				t.Fatalf("got before, restarted, rival: %t, %t, %t; want one, and no rival", before.HasLeadership(), leads, rival.HasLeadership())
			}
		}
		wantManager(t, "the restarted one, with a node of its own", restarted.HasLeadership(), true)
		must(t, restarted.Close())
		synctest.Wait()
		wantManager(t, "the rival after it", rival.HasLeadership(), true)
	})
}

// Processes that have not moved read mysync's node, and each other's. With a node at the same path, of one session and
// kept there, a fleet moves one process after the other.
func TestMysyncMovedToAPersistentNodeStandsBesideMysync(t *testing.T) {
	zktest.Bubble(t, func(t *testing.T) {
		server := zktest.New(t)
		must(t, server.Create("/mysync", nil))
		killed := newPeer(t, server)
		before, _ := killed.goZookeeper()
		rival, _ := newPeer(t, server).goZookeeper()
		wantManager(t, "the first container", mysyncBefore(before, container), true)
		killed.link.Cut()

		node := nodes.NewPersistentNode(newPeer(t, server).curator(), manager, []byte(container))
		soon, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		if err := node.Start(soon); !errors.Is(err, nodes.ErrForeign) {
			t.Errorf("Start behind the predecessor's node: got %v, want %v", err, nodes.ErrForeign)
		}
		must(t, node.Start(t.Context()))
		for range 3 {
			stat, _ := server.Stat(manager)
			if stat.EphemeralOwner == before.SessionID() {
				t.Error("got the predecessor's node, want one of its own")
			}
			wantManager(t, "the rival behind it", mysyncBefore(rival, other), false)
			server.ExpireSession(stat.EphemeralOwner)
			time.Sleep(2 * time.Second)
		}
		must(t, node.Close())
		wantManager(t, "the rival after it", mysyncBefore(rival, other), true)
	})
}

func stand(t *testing.T, p peer, self string) *leader.LeaderLatch {
	t.Helper()
	latch, err := mysyncAfter(t.Context(), p.curator(), self)
	must(t, err)
	t.Cleanup(func() { _ = latch.Close() }) // that of a container that was cut off is not confirmed
	synctest.Wait()
	return latch
}

func wantManager(t *testing.T, who string, got, want bool) {
	t.Helper()
	if got != want {
		t.Errorf("%s: got the lock: %t, want %t", who, got, want)
	}
}
