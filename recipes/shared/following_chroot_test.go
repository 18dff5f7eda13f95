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
		wantErr(t, count.Err(), framework.ErrNoChroot)

		makeAll(t, server, "/app", "/app"+parent)
		time.Sleep(2 * time.Minute)
		wantCount(t, count, 3) // without a node the last value stands
		wantErr(t, count.Err())
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
		must(t, client.BlockUntilConnected(t.Context()))
		if err, n := count.Err(), count.Count(); !errors.Is(err, framework.ErrNoChroot) || n != 3 {
			t.Errorf("before the answer: got count %d, Err %v, want 3, ErrNoChroot", n, err)
		}
		answer()
		wantCount(t, count, 1)
		wantErr(t, count.Err())
	})
}

func makeAll(t *testing.T, server *zktest.Server, nodes ...string) {
	t.Helper()
	for _, node := range nodes {
		must(t, server.Create(node, nil))
	}
}

func makeCount(t *testing.T, server *zktest.Server, n int32) {
	t.Helper()
	must(t, server.Create("/app"+path, bytesOf(n)))
}

// loseChroot deletes nodes below the chroot /app, and ends the client's session.
func loseChroot(t *testing.T, server *zktest.Server, client *framework.Client, nodes ...string) {
	t.Helper()
	session, err := client.Session(t.Context())
	must(t, err)
	for _, node := range nodes {
		must(t, server.Delete("/app"+node))
	}
	server.ExpireSession(session.ID())
}
