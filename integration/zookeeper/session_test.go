//go:build unix

package zookeeper_test

import (
	"testing"

	"github.com/go-zookeeper/zk"

	"github.com/gocurator/curator/integration/zookeeper"
)

func TestEndedSessionLosesItsNodes(t *testing.T) {
	server := zookeeper.Start(t, zookeeper.Config{})
	owner := connect(t, server)
	if _, err := owner.Create("/mine", nil, zk.FlagEphemeral, zk.WorldACL(zk.PermAll)); err != nil {
		t.Fatal(err)
	}
	if err := zookeeper.EndSession(server.Addr(), owner.SessionID()); err != nil {
		t.Fatal(err)
	}
	if there, _, err := connect(t, server).Exists("/mine"); err != nil || there {
		t.Errorf("the node of the ended session: got %t, %v, want none", there, err)
	}
	if err := zookeeper.EndSession(server.Addr(), 1); err == nil {
		t.Error("the end of a session that does not exist: got no error")
	}
}
