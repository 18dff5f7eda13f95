package cache

import (
	"testing"

	"github.com/go-zookeeper/zk"
)

// A restored ensemble gives the zxids that it has lost to other transactions.
func TestContentsAreTheSameIfTransactionsAndDataAre(t *testing.T) {
	node := func(czxid, mzxid int64, data string) *Node {
		return &Node{Path: "/t", Data: []byte(data), Stat: &zk.Stat{Czxid: czxid, Mzxid: mzxid}}
	}
	for name, test := range map[string]struct {
		before, after *Node
		want          bool
	}{
		"read again":                {node(1, 2, "a"), node(1, 2, "a"), true},
		"set":                       {node(1, 2, "a"), node(1, 3, "b"), false},
		"set to the same":           {node(1, 2, "a"), node(1, 3, "a"), false},
		"made again":                {node(1, 1, "a"), node(2, 2, "a"), false},
		"set in a restored history": {node(1, 2, "a"), node(1, 2, "b"), false},
	} {
		if got := sameContent(test.before, test.after); got != test.want {
			t.Errorf("%s: got %v, want %v", name, got, test.want)
		}
	}
}
