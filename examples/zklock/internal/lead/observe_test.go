package lead_test

import (
	"errors"
	"testing"
	"time"

	"github.com/go-zookeeper/zk"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/framework/zktest"
	"github.com/gocurator/curator/recipes/leader"
)

func TestLeaderWhoseNodeMayNotBeReadHasNoName(t *testing.T) {
	zktest.Bubble(t, func(t *testing.T) {
		server := zktest.New(t)
		for _, parent := range []string{"/leaders", path} {
			if err := server.Create(parent, nil); err != nil {
				t.Fatal(err)
			}
		}
		other, err := framework.NewClient("zk", framework.WithDialer(server.DialContext),
			framework.WithAuthorization("digest", []byte("user:password")),
			framework.WithACLProvider(func(string) []zk.ACL { return []zk.ACL{{Perms: zk.PermAll, Scheme: "auth"}} }))
		if err != nil {
			t.Fatal(err)
		}
		defer other.Close()
		term, err := leader.NewLeaderSelector(other, path, leader.WithID("private")).Campaign(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		a, b := stand(t, server, "a", false), stand(t, server, "b", false)
		time.Sleep(time.Minute)
		for _, p := range []*participant{a, b} {
			if got := p.Answer(); got.Leading || got.Name != "" || !got.Connected {
				t.Errorf("got %+v, want no name", got)
			}
		}
		if err := term.Release(); err != nil {
			t.Fatal(err)
		}
		a.until(true)
		time.Sleep(time.Second) // b looks again
		if got := b.Answer(); got.Name != "a" {
			t.Errorf("got %+v, want that a leads", got)
		}
	})
}

// The request replaces the name in the leader's node, while the leader waits for the end of its last yes.
func TestLeaderThatWasAskedToLeaveHasNoNameForNewcomers(t *testing.T) {
	zktest.Bubble(t, func(t *testing.T) {
		server := zktest.New(t)
		a, b := stand(t, server, "a", false), stand(t, server, "b", false)
		a.until(true)
		b.revoke()
		c := stand(t, server, "c", false)
		if got := c.Answer(); got.Name != "" || !got.Connected {
			t.Errorf("got %+v of a newcomer, want no name", got)
		}
		if got := b.Answer(); got.Name != "a" {
			t.Errorf("got %+v of one that had seen the leader before, want its name", got)
		}
		b.until(true)
	})
}

func TestElectorThatMayNotListEnds(t *testing.T) {
	zktest.Bubble(t, func(t *testing.T) {
		server := zktest.New(t)
		for _, parent := range []string{"/leaders", path} {
			if err := server.Create(parent, nil); err != nil {
				t.Fatal(err)
			}
		}
		if err := server.SetACL(path, zktest.ACL{Perms: zk.PermAll &^ zk.PermRead, Scheme: "world", ID: "anyone"}); err != nil {
			t.Fatal(err)
		}
		p := stand(t, server, "a", true)
		if err := p.within(time.Minute); !errors.Is(err, zk.ErrNoAuth) {
			t.Errorf("got %v, want %v", err, zk.ErrNoAuth)
		}
	})
}
