//go:build unix

package zookeeper_test

import (
	"testing"

	"github.com/go-zookeeper/zk"

	"github.com/gocurator/curator/integration/zookeeper"
)

func TestARestoredServerHasTheNodesOfTheSnapshot(t *testing.T) {
	server := zookeeper.Start(t, zookeeper.Config{Admin: true})
	conn := connect(t, server)
	create := func(path string) {
		t.Helper()
		if _, err := conn.Create(path, nil, 0, zk.WorldACL(zk.PermAll)); err != nil {
			t.Fatal(err)
		}
	}
	create("/before")
	snapshot := server.Snapshot()
	create("/after")
	server.Restore(snapshot)
	for path, want := range map[string]bool{"/before": true, "/after": false} {
		if got, _, err := conn.Exists(path); err != nil || got != want {
			t.Errorf("%s is there: got %t, %v, want %t", path, got, err, want)
		}
	}
}
