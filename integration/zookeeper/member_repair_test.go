//go:build unix

package zookeeper_test

import (
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/go-zookeeper/zk"

	"github.com/gocurator/curator/examples/zklock/txnlog"
	"github.com/gocurator/curator/framework/zktest"
	"github.com/gocurator/curator/framework/zktest/await"
	"github.com/gocurator/curator/integration/zookeeper"
)

func TestAServerWhoseEpochIsOlderThanItsLogStartsAfterRepair(t *testing.T) {
	t.Parallel()
	e := zookeeper.StartEnsemble(t, zookeeper.EnsembleConfig{})
	leader, followers := e.Settled()
	if leader == nil {
		t.FailNow()
	}
	broken := followers[0]
	if _, err := connectTo(t, broken.Addr()).Create("/logged", nil, 0, zk.WorldACL(zk.PermAll)); err != nil {
		t.Fatal(err)
	}
	data := filepath.Join(broken.DataDir(), "version-2")
	await.Until(t, patience, "the follower to log the node", func() bool {
		logged, _ := txnlog.Read(data) // an error while the server writes is no surprise
		return slices.ContainsFunc(logged, func(t zktest.Transaction) bool {
			return len(t.Changes) == 1 && t.Changes[0].Path == "/logged"
		})
	})
	if err := broken.Repair(); err == nil {
		t.Error("a server that runs was repaired")
	}
	broken.Kill()
	if err := broken.Repair(); err == nil {
		t.Error("a server that was killed was repaired")
	}
	epoch := filepath.Join(data, "currentEpoch")
	logged, err := os.ReadFile(epoch)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(epoch, []byte("0"), 0o600); err != nil {
		t.Fatal(err)
	}

	broken.Start()
	await.Until(t, patience, "the server to end by itself", broken.Ended)
	if err := broken.Repair(); err != nil {
		t.Fatal(err)
	}
	if repaired, err := os.ReadFile(epoch); err != nil || string(repaired) != string(logged) {
		t.Errorf("got epoch %s (%v), want %s", repaired, err, logged)
	}
	broken.Start()
	await.Until(t, patience, "the server to follow", func() bool { return broken.Role() == "follower" })
}
