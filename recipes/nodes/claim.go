package nodes

import (
	"crypto/sha256"
	"slices"

	"github.com/go-zookeeper/zk"
)

// A claim knows which node that outlives sessions, and has no GUID, is a keeper's, by the rule of the package's
// documentation. Its zero value knows none.
type claim struct {
	czxid int64  // that of the node which is the keeper's for sure; 0 for none
	marks []mark // those of the requests without an answer since
}

// A mark is what a request without an answer leaves at a node if it is executed: the data that were sent, at the
// version that the node has after it.
type mark struct {
	version int32
	data    [sha256.Size]byte
}

// take notes that the node is the keeper's: a request was executed on it, or Start returns with it.
func (c *claim) take(czxid int64) { *c = claim{czxid: czxid} }

// doubt notes a request without an answer.
func (c *claim) doubt(version int32, data []byte) {
	if m := (mark{version, sha256.Sum256(data)}); !slices.Contains(c.marks, m) {
		c.marks = append(c.marks, m)
	}
}

// doubts reports whether another node than the one that it has may be the keeper's.
func (c *claim) doubts() bool { return len(c.marks) > 0 }

// none reports whether no node can be the keeper's.
func (c *claim) none() bool { return c.czxid == 0 && !c.doubts() }

// has reports whether the node is the keeper's for sure.
func (c *claim) has(stat *zk.Stat) bool { return c.czxid != 0 && stat.Czxid == c.czxid }

// sees reports whether the node is the keeper's, by what was read of it. One that bears a mark is so from then on.
func (c *claim) sees(data []byte, stat *zk.Stat) bool {
	switch {
	case c.has(stat):
		return true
	case !c.doubts(), stat.EphemeralOwner != 0, len(data) != int(stat.DataLength): // the data may not be read
		return false
	case !slices.Contains(c.marks, mark{stat.Version, sha256.Sum256(data)}):
		return false
	}
	c.take(stat.Czxid)
	return true
}
