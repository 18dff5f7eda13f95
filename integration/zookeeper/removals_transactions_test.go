//go:build unix

package zookeeper_test

import (
	"bytes"
	"errors"
	"fmt"
	"path"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/go-zookeeper/zk"

	"github.com/gocurator/curator/framework/zktest"
	"github.com/gocurator/curator/framework/zktest/await"
	"github.com/gocurator/curator/integration/zookeeper"
)

// One script on both: the log of the real server says what the observer of the server in memory hears, and replayed it
// gives the tree that clients read.
func TestTransactionsOfARealServerAreThoseOfZktest(t *testing.T) {
	server := zookeeper.Start(t, zookeeper.Config{})
	writes(t, func() *zk.Conn { return connect(t, server) })
	logged, err := server.Transactions()
	if err != nil {
		t.Fatal(err)
	}
	compareTree(t, connect(t, server), logged)

	var mu sync.Mutex
	var memory []zktest.Transaction
	fake := zktest.New(t)
	fake.ObserveTransactions(func(x zktest.Transaction) {
		mu.Lock()
		defer mu.Unlock()
		memory = append(memory, x)
	})
	writes(t, func() *zk.Conn { return connectTo(t, fake.Addr()) })
	mu.Lock()
	defer mu.Unlock()
	got, want := script(memory), script(logged)
	for i := range max(len(got), len(want)) {
		if i >= len(got) || i >= len(want) || got[i] != want[i] {
			t.Errorf("transaction %d: got\n%q\nwant, as of the real server,\n%q", i, got[i:min(len(got), i+1)], want[i:min(len(want), i+1)])
			break
		}
	}
}

// writes has two sessions do all that goes into a log without a delay of unknown length.
func writes(t *testing.T, connect func() *zk.Conn) {
	t.Helper()
	acl := zk.WorldACL(zk.PermAll)
	expect := func(err, want error) {
		t.Helper()
		if !errors.Is(err, want) {
			t.Fatalf("got the error %v, want %v", err, want)
		}
	}
	a := connect()
	_, err := a.Create("/a", []byte("x"), 0, acl)
	expect(err, nil)
	_, err = a.Create("/a/own-", nil, zk.FlagEphemeral|zk.FlagSequence, acl)
	expect(err, nil)
	_, err = a.CreateContainer("/c", []byte("x"), zk.FlagContainer, acl)
	expect(err, nil)
	_, err = a.Create("/a", nil, 0, acl)
	expect(err, zk.ErrNodeExists)
	_, err = a.Set("/a", []byte("y"), 0)
	expect(err, nil)
	_, err = a.Set("/a", nil, 0)
	expect(err, zk.ErrBadVersion)
	_, err = a.SetACL("/a", acl, -1)
	expect(err, nil)

	b := connect()
	_, err = b.Multi(
		&zk.CreateRequest{Path: "/own", Acl: acl, Flags: zk.FlagEphemeral}, &zk.CreateRequest{Path: "/plain", Data: []byte("p"), Acl: acl},
		&zk.SetDataRequest{Path: "/plain", Data: []byte("q"), Version: 0}, &zk.CheckVersionRequest{Path: "/a", Version: 1},
	)
	expect(err, nil)
	_, err = b.Multi(&zk.CheckVersionRequest{Path: "/a", Version: 1})
	expect(err, nil)
	_, err = b.Multi(&zk.DeleteRequest{Path: "/plain", Version: -1}, &zk.CheckVersionRequest{Path: "/a", Version: 7})
	expect(err, zk.ErrBadVersion)
	_, err = b.Create("/gone", nil, zk.FlagEphemeral, acl)
	expect(err, nil)
	expect(a.Delete("/gone", -1), nil)
	b.Close()
	var there bool
	if !await.Within(5*time.Minute, func() bool {
		there, _, err = a.Exists("/own")
		return err == nil && !there
	}) {
		await.Fatalf(t, "/own to go with its session; is it there: %v, %v", there, err)
	}
	_, err = a.Create("/last", nil, zk.FlagEphemeral, acl)
	expect(err, nil)
}

// script is a list of transactions without what differs from server to server: zxids count from the first, sessions by
// their order. The transactions end with the creation of /last: the end of that session may be under way.
func script(all []zktest.Transaction) (lines []string) {
	sessions := map[int64]int{0: 0}
	number := func(id int64) int {
		if _, ok := sessions[id]; !ok {
			sessions[id] = len(sessions)
		}
		return sessions[id]
	}
	for _, x := range all {
		var line strings.Builder
		fmt.Fprintf(&line, "%+d session %d request %d failed %v ends %v", x.Zxid-all[0].Zxid, number(x.Session), x.Request, x.Failed, x.EndsSession)
		last := false
		for _, c := range x.Changes {
			fmt.Fprintf(&line, " %v %s %d %q", c.Kind, c.Path, number(c.Owner), c.Data)
			last = last || c.Path == "/last"
		}
		lines = append(lines, line.String())
		if last {
			break
		}
	}
	return lines
}

// compareTree compares what a client reads with the replay.
func compareTree(t *testing.T, conn *zk.Conn, all []zktest.Transaction) {
	t.Helper()
	replayed := map[string]zktest.Change{}
	for _, x := range all {
		for _, c := range x.Changes {
			switch c.Kind {
			case zktest.Created:
				replayed[c.Path] = c
			case zktest.Deleted:
				delete(replayed, c.Path)
			case zktest.DataSet:
				c.Owner = replayed[c.Path].Owner
				replayed[c.Path] = c
			}
		}
	}
	var walk func(dir string)
	walk = func(dir string) {
		names, _, err := conn.Children(dir)
		if err != nil {
			t.Fatal(err)
		}
		slices.Sort(names)
		for _, name := range names {
			node := path.Join(dir, name)
			if node == "/zookeeper" {
				continue
			}
			data, stat, err := conn.Get(node)
			if err != nil {
				t.Fatal(err)
			}
			c, ok := replayed[node]
			if !ok || !bytes.Equal(data, c.Data) || stat.EphemeralOwner != c.Owner && stat.EphemeralOwner > 0 {
				t.Errorf("%s: got %q of session %#x by the log (in it: %v), want %q of %#x", node, c.Data, c.Owner, ok, data, stat.EphemeralOwner)
			}
			delete(replayed, node)
			walk(node)
		}
	}
	walk("/")
	for node := range replayed {
		t.Errorf("%s: got it by the log, want it deleted", node)
	}
}
