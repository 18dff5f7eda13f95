package txnlog_test

import (
	"bytes"
	"reflect"
	"testing"

	"github.com/gocurator/curator/examples/zklock/txnlog"

	"github.com/gocurator/curator/framework/zktest"
)

// Servers list the nodes that go with a session, or not: either way all of them go, and none twice.
func TestParseDeletesEachNodeOfASessionThatEnds(t *testing.T) {
	nodes := []record{
		{session: 7, kind: create, body: created("/kept", "", 0)},
		{session: 7, kind: create, body: created("/deleted", "", 1)},
		{session: 7, kind: create, body: created("/b", "", 1)},
		{session: 8, kind: create, body: created("/other", "", 1)},
		{session: 7, kind: create, body: created("/a", "", 1)},
		{session: 8, kind: remove, body: text(nil, "/deleted")},
	}
	deleted := func(owner int64, paths ...string) (list []zktest.Change) {
		for _, path := range paths {
			list = append(list, zktest.Change{Kind: zktest.Deleted, Path: path, Owner: owner})
		}
		return list
	}
	for name, test := range map[string]struct {
		body []byte
		want []zktest.Change
	}{
		"no list":            {nil, deleted(7, "/a", "/b")},
		"digest":             {digest, deleted(7, "/a", "/b")},
		"digest of zero":     {i64(i32(nil, 2), 0), deleted(7, "/a", "/b")},
		"a list":             {text(text(i32(nil, 2), "/b"), "/a"), deleted(7, "/b", "/a")},
		"a list with digest": {append(text(text(i32(nil, 2), "/b"), "/a"), digest...), deleted(7, "/b", "/a")},
		"part of a list":     {text(i32(nil, 1), "/b"), deleted(7, "/b", "/a")},
		"one more":           {text(i32(nil, 1), "/before"), deleted(7, "/before", "/a", "/b")},
	} {
		log := logOf(append(nodes, record{session: 7, kind: closeSession, body: test.body}, record{session: 7, kind: closeSession},
			record{session: 8, kind: closeSession})...)
		var all []zktest.Transaction
		if err := txnlog.Parse(bytes.NewReader(log), func(t zktest.Transaction) error { all = append(all, t); return nil }); err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		ends := all[len(nodes):]
		for i, want := range [][]zktest.Change{test.want, nil, deleted(8, "/other")} {
			if got := ends[i].Changes; !reflect.DeepEqual(got, want) {
				t.Errorf("%s, end %d: got %v, want %v", name, i+1, got, want)
			}
		}
	}
}
