package transport

import (
	"bytes"
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/go-zookeeper/zk"
)

func TestACreatedPathIsTheOneThatWasAskedFor(t *testing.T) {
	for _, c := range []struct {
		asked string
		kind  int32
		got   string
		ok    bool
	}{
		{"/a", Persistent, "/a", true},
		{"/a", Ephemeral, "/a", true},
		{"/a", Container, "/a", true},
		{"/a", TTL, "/a", true},
		{"/a", Ephemeral, "/b", false},
		{"/a", Ephemeral, "/a0000000001", false},
		{"/a", Ephemeral, "", false},
		{"/a", Ephemeral, "a", false},
		{"/q/n-", EphemeralSequential, "/q/n-0000000000", true},
		{"/q/n-", PersistentSequential, "/q/n-2147483647", true},
		{"/q/n-", TTLSequential, "/q/n--2147483648", true},
		{"/q/n-", EphemeralSequential, "/q/n--000000005", true},
		{"/q/", EphemeralSequential, "/q/0000000007", true},
		{"/q/n-", EphemeralSequential, "/q/n-", false},
		{"/q/n-", EphemeralSequential, "/q/n-7", false},
		{"/q/n-", EphemeralSequential, "/q/n-00000000007", false},
		{"/q/n-", EphemeralSequential, "/q/n-2147483648", false},
		{"/q/n-", EphemeralSequential, "/q/n--000000000", false},
		{"/q/n-", EphemeralSequential, "/q/n-+000000007", false},
		{"/q/n-", EphemeralSequential, "/q/n-000000000x", false},
		{"/q/n-", EphemeralSequential, "/q/n--000000000", false},
		{"/q/n-", EphemeralSequential, "/q/n--0000000001", false},
		{"/q/n-", EphemeralSequential, "/q/n-00000000001", false},
		{"/q/n-", EphemeralSequential, "/q/n-9999999999", false},
		{"/q/n-", EphemeralSequential, "/q/n-+000000001", false},
		{"/q/n-", EphemeralSequential, "/q/m-0000000000", false},
		{"/q/n-", EphemeralSequential, "n-0000000000", false},
		{"/q/n-", EphemeralSequential, "", false},
	} {
		if err := checkCreatedPath([]byte(c.asked), c.kind, c.got); (err == nil) != c.ok {
			t.Errorf("asked for %q of kind %d, got %q: %v, want ok %t", c.asked, c.kind, c.got, err, c.ok)
		}
	}
}

func TestEveryNumberOfAServerIsOne(t *testing.T) {
	for _, n := range []int32{0, 1, 9, 10, 999_999_999, 1_000_000_000, math.MaxInt32, math.MinInt32, -1, -999_999_999, -1_000_000_000} {
		if s := fmt.Sprintf("%010d", n); !isSequenceNumber(s) {
			t.Errorf("%q is none", s)
		}
	}
}

func TestAListingAgreesWithItself(t *testing.T) {
	for _, c := range []struct {
		names  []string
		counts int32
		says   string // empty if it can be
	}{
		{nil, 0, ""},
		{[]string{"a", "b"}, 2, ""},
		{nil, 1, "counts 1 children"},
		{[]string{"a"}, 0, "counts 0 children"},
		{[]string{"a"}, 1 << 30, "counts 1073741824 children"},
		{[]string{"a", ""}, 2, `child named ""`},
		{[]string{"a", "b/c"}, 2, `child named "b/c"`},
		{[]string{"a\x00"}, 1, `child named "a\x00"`},
	} {
		err := checkListing([]byte("/q"), c.names, &zk.Stat{NumChildren: c.counts})
		if c.says == "" && err != nil || c.says != "" && (err == nil || !strings.Contains(err.Error(), c.says)) {
			t.Errorf("%q of %d: %v, want %q", c.names, c.counts, err, c.says)
		}
	}
}

func TestANewNodeIsThisSessionsAndNotFromTheFuture(t *testing.T) {
	good := zk.Stat{Czxid: 9, Mzxid: 9, Pzxid: 9, EphemeralOwner: 7}
	for name, change := range map[string]func(s *zk.Stat){
		"":              func(*zk.Stat) {},
		"no zxid":       func(s *zk.Stat) { s.Czxid, s.Mzxid = 0, 0 },
		"the future":    func(s *zk.Stat) { s.Czxid, s.Mzxid = 10, 10 },
		"changed":       func(s *zk.Stat) { s.Mzxid = 10 },
		"another owner": func(s *zk.Stat) { s.EphemeralOwner = 8 },
		"no owner":      func(s *zk.Stat) { s.EphemeralOwner = 0 },
	} {
		s := good
		change(&s)
		call := Create("/a", nil, nil, Ephemeral, 0, nil)
		err := call.check(&answer{path: "/a", stat: &s}, header{zxid: 9}, 7)
		if (err == nil) != (name == "") {
			t.Errorf("%q: %v", name, err)
		}
	}
}

func TestResultsOfATransactionFitItsParts(t *testing.T) {
	create := CreateOp("/q/n-", nil, nil, PersistentSequential)
	created, deleted := OpResult{kind: opCreate, Path: "/q/n-0000000001"}, OpResult{kind: opDelete}
	failed, passed := OpResult{kind: multiEnd, Err: zk.ErrNoNode}, OpResult{kind: multiEnd}
	ops := []Op{create, DeleteOp("/x", -1)}
	for name, c := range map[string]struct {
		results []OpResult
		ok      bool
	}{
		"all done":       {[]OpResult{created, deleted}, true},
		"all failed":     {[]OpResult{passed, failed}, true},
		"one less":       {[]OpResult{created}, false},
		"one more":       {[]OpResult{created, deleted, deleted}, false},
		"other order":    {[]OpResult{deleted, created}, false},
		"half failed":    {[]OpResult{created, failed}, false},
		"without reason": {[]OpResult{passed, passed}, false},
		"another path":   {[]OpResult{{kind: opCreate, Path: "/q/m-0000000001"}, deleted}, false},
	} {
		if err := checkMulti(ops, c.results); (err == nil) != c.ok {
			t.Errorf("%s: %v, want ok %t", name, err, c.ok)
		}
	}
	if err := checkMulti(nil, nil); err != nil {
		t.Errorf("an empty transaction: %v", err)
	}
}

func TestAnEventIsCheckedBeforeItIsReported(t *testing.T) {
	event := func(kind int32, path string, more ...byte) []byte {
		var e encoder
		e.int32(kind)
		e.int32(3)
		e.string(path)
		return append(e, more...)
	}
	for _, c := range []struct {
		body []byte
		says string
	}{
		{event(2, "/a/b"), ""},
		{event(4, "/"), ""},
		{event(2, ""), `impossible path ""`},
		{event(2, "a"), `impossible path "a"`},
		{event(2, "/a/"), `impossible path "/a/"`},
		{event(2, "//a"), `impossible path "//a"`},
		{event(2, "/a\x00"), `impossible path "/a\x00"`},
		{event(0, "/a"), "unknown type 0"},
		{event(5, "/a"), "unknown type 5"},
		{event(-1, "/a"), "unknown type -1"},
		{event(2, "/a", 0), "1 bytes behind the end"},
		{event(2, "/a")[:9], "a field of 4 bytes where 1 are left"},
	} {
		d := decoder{rest: c.body}
		got, err := d.event()
		if c.says == "" && (err != nil || !bytes.HasSuffix(c.body, []byte(got.Path))) ||
			c.says != "" && (err == nil || !strings.Contains(err.Error(), c.says)) {
			t.Errorf("%q: %+v, %v, want %q", c.body, got, err, c.says)
		}
	}
}

func TestANoAuthErrorNamesThePermissionAndItsNode(t *testing.T) {
	set := Set("/a/b", nil, -1, nil)
	for _, c := range []struct {
		op   int32
		want string
	}{
		{opCreate2, "no permission to create /a/b: the ACL of /a does not give this client CREATE"},
		{opDelete, "no permission to delete /a/b: the ACL of /a does not give this client DELETE"},
		{opSetData, "no permission to set the data of /a/b: the ACL of /a/b does not give this client WRITE"},
		{opGetChildren2, "no permission to list the children of /a/b: the ACL of /a/b does not give this client READ"},
		{opSync, zk.ErrNoAuth.Error()},
	} {
		if got := noAuth(c.op, set.body).Error(); got != c.want {
			t.Errorf("got %q, want %q", got, c.want)
		}
	}
}
