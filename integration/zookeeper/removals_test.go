//go:build unix

package zookeeper_test

import (
	"testing"
	"time"

	"github.com/go-zookeeper/zk"

	"github.com/gocurator/curator/framework/zktest/await"
	"github.com/gocurator/curator/integration/zookeeper"
)

func TestRemovalsAreThoseOfTheLogs(t *testing.T) {
	server := zookeeper.Start(t, zookeeper.Config{})
	conn := connect(t, server)
	began := time.Now().Truncate(time.Millisecond)
	acl := zk.WorldACL(zk.PermAll)
	create := func(conn *zk.Conn, path string, flags int32) {
		t.Helper()
		if _, err := conn.Create(path, nil, flags, acl); err != nil {
			t.Fatal(err)
		}
	}
	// A session ends at its timeout, a minute, if the server is too slow for its Close.
	closeWith := func(conn *zk.Conn, path string) {
		t.Helper()
		conn.Close()
		look := connect(t, server)
		defer look.Close()
		var there bool
		var err error
		if !await.Within(5*time.Minute, func() bool {
			there, _, err = look.Exists(path)
			return err == nil && !there
		}) {
			await.Fatalf(t, "%s to go with its session; is it there: %v, %v", path, there, err)
		}
	}
	for _, path := range []string{"/stays", "/plain", "/part", "/twice"} {
		create(conn, path, 0)
	}
	create(conn, "/own", zk.FlagEphemeral)
	create(conn, "/session", zk.FlagEphemeral)
	if _, err := conn.Multi(&zk.CreateRequest{Path: "/of-a-part", Acl: acl, Flags: zk.FlagEphemeral}); err != nil {
		t.Fatal(err)
	}

	for _, path := range []string{"/plain", "/own", "/twice"} {
		if err := conn.Delete(path, -1); err != nil {
			t.Fatal(err)
		}
	}
	closeWith(conn, "/session")
	first := time.Now()
	// A server that is asked too early in its life keeps the connection and never answers on it.
	server.Kill()
	server.Restart()
	restarted := time.Now().Truncate(time.Millisecond)
	conn = connect(t, server)
	other := connect(t, server)
	create(conn, "/own-that-stays", zk.FlagEphemeral)
	create(other, "/second-session", zk.FlagEphemeral)
	create(conn, "/twice", 0)
	if _, err := conn.Multi(&zk.DeleteRequest{Path: "/part", Version: -1}, &zk.DeleteRequest{Path: "/twice", Version: -1}); err != nil {
		t.Fatal(err)
	}
	if _, err := conn.Multi(&zk.DeleteRequest{Path: "/stays", Version: -1}, &zk.DeleteRequest{Path: "/none", Version: -1}); err == nil {
		t.Fatal("a transaction with a node that is not there was executed")
	}
	closeWith(other, "/second-session")

	got, err := server.Removals()
	if err != nil {
		t.Fatal(err)
	}
	want := map[string][2]time.Time{
		"/plain": {began, first}, "/own": {began, first}, "/session": {began, first}, "/of-a-part": {began, first},
		"/part": {restarted, time.Now()}, "/twice": {restarted, time.Now()},
		"/second-session": {restarted, time.Now()},
	}
	owned := map[string]bool{"/own": true, "/session": true, "/of-a-part": true, "/second-session": true}
	for path, r := range got {
		span, ok := want[path]
		if !ok {
			t.Errorf("%s was removed", path)
		} else if r.At.Before(span[0]) || r.At.After(span[1]) {
			t.Errorf("%s was removed at %v, want a time from %v to %v", path, r.At, span[0], span[1])
		}
		if r.By == 0 || (r.Owner != 0) != owned[path] || owned[path] && r.Owner != r.By {
			t.Errorf("%s of session %#x was removed by session %#x; does it belong to the one that removed it: %v", path, r.Owner, r.By, owned[path])
		}
		delete(want, path)
	}
	for path := range want {
		t.Errorf("%s was not removed", path)
	}
}
