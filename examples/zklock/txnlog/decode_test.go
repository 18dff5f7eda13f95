package txnlog_test

import (
	"bytes"
	"errors"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/gocurator/curator/examples/zklock/txnlog"

	"github.com/gocurator/curator/framework/zktest"
)

// Each body is read with and without a digest behind it.
func TestParseReadsTheChangesOfEachType(t *testing.T) {
	one := func(c zktest.Change) zktest.Transaction { return zktest.Transaction{Changes: []zktest.Change{c}} }
	// Servers add the new version, or the parent's count of children.
	versioned := func(body []byte) []byte { return i32(body, 3) }
	none := zktest.Transaction{}
	plain := one(zktest.Change{Kind: zktest.Created, Path: "/a", Data: []byte("x")})
	gone := one(zktest.Change{Kind: zktest.Deleted, Path: "/a"})
	for name, test := range map[string]struct {
		kind int32
		body []byte
		want zktest.Transaction
	}{
		"create of 3.3":    {create, created("/a", "x", 0), plain},
		"create":           {create, versioned(created("/a", "x", 0)), plain},
		"create2":          {create2, versioned(created("/a", "x", 0)), plain},
		"create ephemeral": {create2, versioned(created("/a", "", 1)), one(zktest.Change{Kind: zktest.Created, Path: "/a", Data: []byte{}, Owner: 7})},
		"create null": {
			create, versioned(append(world(i32(text(nil, "/a"), -1)), 0)), one(zktest.Change{Kind: zktest.Created, Path: "/a"}),
		},
		"create container": {createContainer, versioned(world(text(text(nil, "/a"), "x"))), plain},
		"create TTL":       {createTTL, i64(versioned(world(text(text(nil, "/a"), "x"))), 1000), plain},
		"delete":           {remove, text(nil, "/a"), gone},
		"delete container": {deleteContainer, text(nil, "/a"), gone},
		"set data":         {setData, versioned(text(text(nil, "/a"), "x")), one(zktest.Change{Kind: zktest.DataSet, Path: "/a", Data: []byte("x")})},
		"set null":         {setData, versioned(i32(text(nil, "/a"), -1)), one(zktest.Change{Kind: zktest.DataSet, Path: "/a"})},
		"set ACL":          {setACL, versioned(world(text(nil, "/a"))), one(zktest.Change{Kind: zktest.ACLSet, Path: "/a"})},
		"reconfig": {
			reconfig, versioned(text(text(nil, "/zookeeper/config"), "x")),
			one(zktest.Change{Kind: zktest.DataSet, Path: "/zookeeper/config", Data: []byte("x")}),
		},
		"create session":               {createSession, i32(nil, 30000), none},
		"close session":                {closeSession, nil, zktest.Transaction{EndsSession: true}},
		"close session without a node": {closeSession, i32(nil, 0), zktest.Transaction{EndsSession: true}},
		"close session without a list": {closeSession, i32(nil, -1), zktest.Transaction{EndsSession: true}},
		"close session with its nodes": {closeSession, text(text(i32(nil, 2), "/b"), "/a"), zktest.Transaction{EndsSession: true, Changes: []zktest.Change{
			{Kind: zktest.Deleted, Path: "/b", Owner: 7}, {Kind: zktest.Deleted, Path: "/a", Owner: 7},
		}}},
		"error":   {failed, i32(nil, -101), zktest.Transaction{Failed: true}},
		"unknown": {999, []byte("???"), none},
		"multi": {multi, parts(
			create, versioned(created("/a", "", 1)), check, i32(text(nil, "/b"), 1), setData, versioned(text(text(nil, "/b"), "x")), remove, text(nil, "/a"),
		), zktest.Transaction{Changes: []zktest.Change{
			{Kind: zktest.Created, Path: "/a", Owner: 7, Data: []byte{}},
			{Kind: zktest.DataSet, Path: "/b", Data: []byte("x")},
			{Kind: zktest.Deleted, Path: "/a", Owner: 7},
		}}},
		"multi with a check only": {multi, parts(check, i32(text(nil, "/b"), 1)), none},
		"multi that failed": {
			multi, parts(remove, text(nil, "/a"), failed, i32(nil, -101), failed, i32(nil, -2)), zktest.Transaction{Failed: true},
		},
	} {
		for with, behind := range map[string][]byte{"": nil, " and a digest": digest} {
			log := logOf(record{zxid: 5, session: 7, request: 3, kind: test.kind, body: append(bytes.Clone(test.body), behind...)})
			var got []zktest.Transaction
			err := txnlog.Parse(bytes.NewReader(log), func(t zktest.Transaction) error { got = append(got, t); return nil })
			if err != nil || len(got) != 1 {
				t.Errorf("%s%s: got %v, %v", name, with, got, err)
				continue
			}
			want := test.want
			want.Zxid, want.Session, want.Request, want.At = 5, 7, 3, got[0].At
			if !reflect.DeepEqual(got[0], want) {
				t.Errorf("%s%s: got %+v, want %+v", name, with, got[0], want)
			}
		}
	}
}

// Records are read into a buffer that is used again.
func TestDataIsThatOfItsTransactionWhenLaterOnesWereRead(t *testing.T) {
	data := func(zxid int64) string { return strings.Repeat(string(rune('a'+zxid%26)), 5000) }
	var records []record
	for zxid := range int64(200) {
		records = append(records, record{zxid: zxid + 1, kind: create, body: created("/a", data(zxid+1), 0)})
	}
	log := logOf(records...)
	dir := write(t, map[string][]byte{"log.1": log})
	opened, err := txnlog.Open("/", dir)
	if err != nil {
		t.Fatal(err)
	}
	var parsed []zktest.Transaction
	err = txnlog.Parse(bytes.NewReader(log), func(one zktest.Transaction) error { parsed = append(parsed, one); return nil })
	listed, readErr := txnlog.Read(dir)
	if err := errors.Join(err, readErr); err != nil {
		t.Fatal(err)
	}
	for name, all := range map[string][]zktest.Transaction{"Open": slices.Collect(opened.Transactions()), "Read": listed, "Parse": parsed} {
		if len(all) != len(records) {
			t.Errorf("%s: got %d transactions, want %d", name, len(all), len(records))
		}
		for _, one := range all {
			if got := string(one.Changes[0].Data); got != data(one.Zxid) {
				t.Fatalf("%s: transaction %d has the data %.20q, want %.20q", name, one.Zxid, got, data(one.Zxid))
			}
		}
	}
}
