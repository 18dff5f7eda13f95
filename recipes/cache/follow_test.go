package cache_test

import (
	"errors"
	"testing"
	"time"

	"github.com/go-zookeeper/zk"

	"github.com/gocurator/curator/framework/zktest"
	"github.com/gocurator/curator/recipes/cache"
)

func TestARootThatMayBeReadAgainIsReadWithinAMinute(t *testing.T) {
	anyone := func(perms int32) zktest.ACL { return zktest.ACL{Perms: perms, Scheme: "world", ID: "anyone"} }
	for _, version := range []string{"3.5", "3.9.5"} {
		t.Run(version, func(t *testing.T) {
			inBubble(t, func(t *testing.T, server *zktest.Server) {
				makeNode(t, server, "/t", "1")
				client, _ := newClient(t, server)
				c := start(t, client, "/t", cache.WithReadAgain(0))
				e := subscribe(c)
				e.want(t, "created /t=1", "synced")
				if err := server.SetACL("/t", anyone(zk.PermAll&^zk.PermRead)); err != nil {
					t.Fatal(err)
				}
				server.CutAll()
				time.Sleep(time.Minute)
				if err := c.Err(); !errors.Is(err, zk.ErrNoAuth) {
					t.Errorf("got %v without the permission, want zk.ErrNoAuth", err)
				}
				e.want(t, "stale")
				setNode(t, server, "/t", "2")
				if err := server.SetACL("/t", anyone(zk.PermAll)); err != nil {
					t.Fatal(err)
				}
				time.Sleep(time.Minute)
				e.want(t, "changed /t=2", "synced")
				if err := c.Err(); err != nil {
					t.Error(err)
				}
			}, zktest.WithVersion(version))
		})
	}
}
