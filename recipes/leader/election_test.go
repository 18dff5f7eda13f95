package leader_test

import (
	"context"
	"testing"

	"github.com/go-zookeeper/zk"

	"github.com/gocurator/curator/framework/zktest"
	"github.com/gocurator/curator/recipes/leader"
)

func TestLeaderThatLeavesBetweenTheListingAndTheReadIsFollowedByTheNext(t *testing.T) {
	for name, test := range map[string]struct {
		perms int32
		read  zktest.Op
	}{
		"a node that may be read":     {zk.PermAll, zktest.OpGetData},
		"a node that may not be read": {zk.PermAll &^ zk.PermRead, zktest.OpExists},
	} {
		t.Run(name, func(t *testing.T) {
			inBubble(t, func(t *testing.T, server *zktest.Server) {
				p := newPeer(t, server)
				node := path + "/" + lead(t, p.selector()).NodeName()
				if _, err := p.SetACL(t.Context(), node, zk.WorldACL(test.perms), -1); err != nil {
					t.Fatal(err)
				}
				next := newPeer(t, server).selector(leader.WithID("next"))
				ctx, cancel := context.WithCancel(t.Context())
				led := begin(t, func() error { return next.RunOnce(ctx, untilDone) })
				observer := newPeer(t, server)
				observed := observer.sessionID(t)
				defer server.Observe(func(r zktest.Request) {
					if r.Session == observed && r.Op == test.read && r.Path == node {
						_ = server.Delete(node)
					}
				})()
				got, err := observer.selector().Leader(t.Context())
				if err != nil || got.ID != "next" {
					t.Errorf("got %+v, %v, want the participant that is next", got, err)
				}
				if server.Exists(node) {
					t.Error("got no read of the first node, want one")
				}
				cancel()
				wantErr(t, led(), context.Canceled)
			})
		})
	}
}
