package zktest_test

import (
	"testing"
	"time"

	"github.com/go-zookeeper/zk"

	"github.com/gocurator/curator/framework/zktest"
)

// unreadable lets all do everything but read.
var unreadable = zktest.ACL(zk.WorldACL(zk.PermAll &^ zk.PermRead)[0])

func TestSetACLFiresNoWatch(t *testing.T) {
	bubble(t, func(t *testing.T, srv *zktest.Server) {
		do(t, srv.Create("/a", nil))
		before, _ := srv.Stat("/a")
		w := newWatcher(t, srv)
		w.watchData("/a")
		w.watchChildren("/a")
		w.watchAlways("/a")
		w.watchTree("/")
		do(t, srv.SetACL("/a", zktest.ACL(zk.DigestACL(zk.PermAll, "bob", "secret")[0])))
		w.want("after SetACL")
		c := dial(t, srv.Dial, 10*time.Second)
		if _, _, err := c.Get("/a"); err != zk.ErrNoAuth {
			t.Errorf("got %v of a stranger's read, want %v", err, zk.ErrNoAuth)
		}
		do(t, c.AddAuth("digest", []byte("bob:secret")))
		if _, _, err := c.Get("/a"); err != nil {
			t.Errorf("got %v of the read by the one that may", err)
		}
		after, _ := srv.Stat("/a")
		if after.Aversion != before.Aversion+1 || after.Mzxid != before.Mzxid || after.Pzxid != before.Pzxid {
			t.Errorf("got %+v after %+v, want the Aversion to grow and nothing else", after, before)
		}
	})
}

func TestSetACLRefusesWhatAServerRefuses(t *testing.T) {
	srv := zktest.New(t)
	do(t, srv.Create("/a", nil))
	for want, err := range map[string]error{
		"zktest: no node":       srv.SetACL("/none", unreadable),
		"zktest: invalid ACL":   srv.SetACL("/a"),
		"zktest: bad arguments": srv.SetACL("a", unreadable),
	} {
		if err == nil || err.Error() != want {
			t.Errorf("got %v, want %s", err, want)
		}
	}
	if err := srv.SetACL("/a", zktest.ACL{Perms: 1, Scheme: "nonsense", ID: "x"}); err == nil || err.Error() != "zktest: invalid ACL" {
		t.Errorf("got %v for an unknown scheme, want zktest: invalid ACL", err)
	}
}

// Releases since 3.8.4 and 3.9.2 withhold the events of a node from clients that may not read it when it changes: a
// tree's watch stays, and hears of the nodes around it.
func TestTreeEventsOfAnUnreadableNodeAreWithheldBySomeReleases(t *testing.T) {
	for release, withheld := range map[string]bool{
		"3.6.4": false, "3.8.3": false, "3.8.4": true, "3.8": true, "3.9.1": false, "3.9.2": true, "3.9": true,
	} {
		t.Run(release, func(t *testing.T) {
			bubble(t, func(t *testing.T, srv *zktest.Server) {
				do(t, srv.Create("/a", nil), srv.Create("/a/b", nil), srv.Create("/a/b/c", nil))
				w := newWatcher(t, srv)
				w.watchTree("/a")
				do(t, srv.SetACL("/a/b", unreadable))
				do(t, srv.SetData("/a/b", nil), srv.SetData("/a/b/c", nil), srv.Delete("/a/b/c"), srv.Delete("/a/b"), srv.SetData("/a", nil))
				want := []string{"data /a/b", "data /a/b/c", "deleted /a/b/c", "deleted /a/b", "data /a"}
				if withheld {
					want = []string{"data /a/b/c", "deleted /a/b/c", "data /a"}
				}
				w.want("a tree watch", want...)
				if got := srv.Watches("/a"); got != 1 {
					t.Errorf("got %d watches, want the tree's to stay", got)
				}
			}, zktest.WithVersion(release))
		})
	}
}
