//go:build linux

package main_test

import (
	"errors"
	"regexp"
	"strconv"
	"testing"
	"time"

	"github.com/go-zookeeper/zk"

	"github.com/gocurator/curator/framework/zktest/await"
	"github.com/gocurator/curator/integration/zookeeper"
)

// Renewals are transactions that check one node, and need not succeed. The library rests on this: the servers write a
// transaction that fails down like any other, so that no answer comes without a majority, be it that the node may not
// be read or is not there. A sync is answered by the leader alone.
func TestATransactionThatFailsNeedsAMajorityAndASyncDoesNot(t *testing.T) {
	t.Parallel()
	e := start(t, zookeeper.EnsembleConfig{SyncLimit: 600}) // two minutes, in which the leader does not step down
	leader, followers := settled(t, e)
	conn, _, err := zk.Connect([]string{leader.Addr()}, time.Minute, zk.WithLogInfo(false), zk.WithLogger(silent{}))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(conn.Close)
	if _, err := conn.Create("/private", nil, 0, zk.DigestACL(zk.PermAll, "some", "body")); err != nil {
		t.Fatal(err)
	}
	if _, _, err := conn.Get("/private"); !errors.Is(err, zk.ErrNoAuth) {
		t.Fatalf("a node that may not be read: %v", err)
	}
	before := zxid(t, leader)
	for _, f := range followers {
		f.Freeze()
	}
	synced := make(chan error, 1)
	go func() { _, err := conn.Sync("/"); synced <- err }()
	if err := await.Receive(t, patience, "the leader to answer a sync alone", synced); err != nil {
		t.Fatal(err)
	}

	checks := map[string]error{"/private": zk.ErrNoAuth, "/missing": zk.ErrNoNode}
	answers := map[string]chan error{}
	for path := range checks {
		answer := make(chan error, 1)
		answers[path] = answer
		go func() { answer <- check(conn, path) }()
	}
	time.Sleep(2 * time.Second)
	for path, answer := range answers {
		select {
		case err := <-answer:
			t.Errorf("the check of %s was answered without a majority: %v", path, err)
		default:
		}
	}
	for _, f := range followers {
		f.Unfreeze()
	}
	for path, answer := range answers {
		err := await.Receive(t, patience, "the answer to the check of "+path, answer)
		if want := checks[path]; !errors.Is(err, want) {
			t.Errorf("the check of %s: %v, want %v", path, err, want)
		}
	}
	if after := zxid(t, leader); after != before+len(checks) {
		t.Errorf("the newest transaction was %#x and is %#x: the failed ones were not written down", before, after)
	}
}

// check is a transaction that checks one node.
func check(conn *zk.Conn, path string) error {
	results, err := conn.Multi(&zk.CheckVersionRequest{Path: path, Version: -1})
	for _, r := range results {
		if r.Error != nil {
			return r.Error
		}
	}
	return err
}

var zxidLine = regexp.MustCompile(`Zxid: 0x[0-9a-f]*?([0-9a-f]{1,8})\n`)

// zxid is the counter of the server's newest transaction.
func zxid(t *testing.T, m *zookeeper.Member) int {
	t.Helper()
	found := zxidLine.FindStringSubmatch(m.FourLetter("srvr"))
	if found == nil {
		t.Fatal("the server does not report its zxid")
	}
	n, err := strconv.ParseInt(found[1], 16, 64)
	if err != nil {
		t.Fatal(err)
	}
	return int(n)
}
