package shared_test

import (
	"errors"
	"testing"
	"time"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/framework/zktest"
)

// The servers come back without the chroot, as an ensemble that was rebuilt does, and the chroot is made later.
func TestFollowingGoesOnWhenTheChrootIsMadeAnew(t *testing.T) {
	inBubble(t, func(t *testing.T, server *zktest.Server) {
		makeAll(t, server, "/app", "/app"+parent)
		makeCount(t, server, 3)
		client, _ := newClientAt(t, server, "/app")
		count := start(t, client, 9)
		var heard tidings
		count.OnChange(heard.hear)
		loseChroot(t, server, client, path, parent, "")
		time.Sleep(2 * time.Minute)
		wantCount(t, count, 3)
		if err := count.Err(); !errors.Is(err, framework.ErrNoChroot) {
			t.Errorf("Err without the chroot: got %v, want ErrNoChroot", err)
		}

		makeAll(t, server, "/app", "/app"+parent)
		time.Sleep(2 * time.Minute)
		wantCount(t, count, 3) // without a node the last value stands
		if err := count.Err(); err != nil {
			t.Errorf("Err with the chroot: got %v, want nil", err)
		}
		makeCount(t, server, 1)
		wantCount(t, count, 1)
		heard.want(t, 1)
	})
}

// The chroot is there again, but no answer about the node yet: the count may have changed meanwhile.
func TestErrOfAMissingChrootStaysUntilTheNodeIsRead(t *testing.T) {
	inBubble(t, func(t *testing.T, server *zktest.Server) {
		makeAll(t, server, "/app", "/app"+parent)
		makeCount(t, server, 3)
		client, _ := newClientAt(t, server, "/app")
		count := start(t, client, 9)
		loseChroot(t, server, client, path, parent, "")
		time.Sleep(2 * time.Minute)
		answer := server.HoldRequest(zktest.Match{Op: zktest.OpGetData, Path: "/app" + path})
		makeAll(t, server, "/app", "/app"+parent)
		makeCount(t, server, 1)
		if err := client.BlockUntilConnected(t.Context()); err != nil {
			t.Fatal(err)
		}
		if err, n := count.Err(), count.Count(); !errors.Is(err, framework.ErrNoChroot) || n != 3 {
			t.Errorf("before the answer: got count %d, Err %v, want 3, ErrNoChroot", n, err)
		}
		answer()
		wantCount(t, count, 1)
		if err := count.Err(); err != nil {
			t.Errorf("after the answer: got Err %v, want nil", err)
		}
	})
}

func makeAll(t *testing.T, server *zktest.Server, nodes ...string) {
	t.Helper()
	for _, node := range nodes {
		if err := server.Create(node, nil); err != nil {
			t.Fatal(err)
		}
	}
}

func makeCount(t *testing.T, server *zktest.Server, n int32) {
	t.Helper()
	if err := server.Create("/app"+path, bytesOf(n)); err != nil {
		t.Fatal(err)
	}
}

// loseChroot deletes nodes below the chroot /app, and ends the client's session.
func loseChroot(t *testing.T, server *zktest.Server, client *framework.Client, nodes ...string) {
	t.Helper()
	session, err := client.Session(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for _, node := range nodes {
		if err := server.Delete("/app" + node); err != nil {
			t.Fatal(err)
		}
	}
	server.ExpireSession(session.ID())
}
