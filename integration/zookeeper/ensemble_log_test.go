//go:build unix

package zookeeper_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/go-zookeeper/zk"

	"github.com/gocurator/curator/examples/zklock/txnlog"
	"github.com/gocurator/curator/framework/zktest"
	"github.com/gocurator/curator/framework/zktest/await"
	"github.com/gocurator/curator/integration/zookeeper"
)

// Leaders are killed and come back; the directories of all servers show what was executed without a doubt. Those of one
// server, or logs without their snapshots, do not.
func TestDirectoriesOfAllServersShowAllThatWasExecuted(t *testing.T) {
	t.Parallel()
	e := zookeeper.StartEnsemble(t, zookeeper.EnsembleConfig{})
	var made []string
	create := func(m *zookeeper.Member) {
		t.Helper()
		conn := connectTo(t, m.Addr())
		defer conn.Close()
		path := fmt.Sprintf("/n%d", len(made))
		// A leader that has just been elected may still close its first connection.
		await.Until(t, patience, "a server to create "+path, func() bool {
			_, err := conn.Create(path, nil, 0, zk.WorldACL(zk.PermAll))
			switch {
			case err == nil, errors.Is(err, zk.ErrNodeExists): // its answer was lost
				return true
			case errors.Is(err, zk.ErrNoServer), errors.Is(err, zk.ErrConnectionClosed):
				return false
			}
			t.Fatal(err)
			return false
		})
		made = append(made, path)
	}
	for range 3 {
		leader, followers := e.Settled()
		if leader == nil {
			t.FailNow()
		}
		create(leader)
		create(followers[0])
		leader.Kill()
		create(awaitLeader(t, e))
		leader.Start()
		awaitServing(t, e)
	}
	create(awaitLeader(t, e))

	var dirs []string
	for _, m := range e.Members() {
		dirs = append(dirs, m.DataDir())
	}
	last := made[len(made)-1]
	for _, dir := range dirs {
		await.Until(t, patience, "a server to log the last node", func() bool {
			logged, _ := txnlog.Read(filepath.Join(dir, "version-2")) // an error while the server writes is no surprise
			return slices.ContainsFunc(logged, func(t zktest.Transaction) bool { return len(t.Changes) == 1 && t.Changes[0].Path == last })
		})
	}
	for _, m := range e.Members() {
		m.Kill()
	}
	log := openLog(t, dirs...)
	var shown []string
	for transaction := range log.Transactions() {
		for _, c := range transaction.Changes {
			if strings.HasPrefix(c.Path, "/n") {
				shown = append(shown, c.Path)
			}
		}
	}
	if log.Incomplete || !slices.Equal(shown, made) {
		t.Errorf("got %v, incomplete %v, want %v:\n%v", shown, log.Incomplete, made, log.Notes)
	}
	if epochs := log.Last.Zxid >> 32; epochs < 4 {
		t.Errorf("got %d epochs, want 4", epochs)
	}
	if one := openLog(t, dirs[0]); !one.Incomplete {
		t.Error("one server: got no note that others are missing")
	}
	for i, dir := range dirs {
		dirs[i] = logsOf(t, dir)
	}
	if logs := openLog(t, dirs...); !logs.Incomplete {
		t.Error("logs alone: got no note that transactions may be missing")
	}
}

// logsOf returns a directory that has a server's logs alone, as a dataLogDir.
func logsOf(t *testing.T, dataDir string) (dir string) {
	t.Helper()
	logs, err := filepath.Glob(filepath.Join(dataDir, "version-2", "log.*"))
	if err != nil || len(logs) == 0 {
		t.Fatalf("got %v, %v, want logs", logs, err)
	}
	dir = t.TempDir()
	for _, name := range logs {
		if err := os.Symlink(name, filepath.Join(dir, filepath.Base(name))); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

func openLog(t *testing.T, dirs ...string) *txnlog.Log {
	t.Helper()
	log, err := txnlog.Open("/", dirs...)
	if err != nil {
		t.Fatal(err)
	}
	return log
}
