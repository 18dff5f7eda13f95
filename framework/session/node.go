package session

import (
	"github.com/go-zookeeper/zk"
)

// A CreateMode is a kind of node.
//
// Curator: CreateMode.
type CreateMode int

// The kinds of nodes.
const (
	Persistent                  CreateMode = 0
	Ephemeral                   CreateMode = 1 // goes with the session
	PersistentSequential        CreateMode = 2 // the server appends a number
	EphemeralSequential         CreateMode = 3
	Container                   CreateMode = 4 // goes after its last child
	PersistentWithTTL           CreateMode = 5 // removed after the TTL without changes or children
	PersistentSequentialWithTTL CreateMode = 6
)

// A CreatedNode is a node that was created under protection, and its parent's children at a moment after that; nil if
// they have still to be listed.
type CreatedNode struct {
	Path     string
	Stat     *zk.Stat
	Children []string
	Public   bool // the ACL with which it was created lets anyone read it
}

// A Removal is the guaranteed deletion of a node: the session asks for it on every connection until the server has
// answered, or the session is over. A refusal ends it, but the session asks again for its own nodes, at growing
// intervals. Nothing need wait for it.
//
// Curator: DeleteBuilder.guaranteed().
type Removal interface {
	// Done is closed when the removal has ended.
	Done() <-chan struct{}
	// Err is valid once Done is closed. It is nil if the node is gone, the server's refusal, or what the session ended
	// with.
	Err() error
}

// A NodePart is what [Reads.ReadMany] reads of each node.
type NodePart int

// The parts of a node. Its Stat comes with each.
const (
	ReadData     NodePart = iota // getData, and exists where the data may not be read
	ReadStat                     // exists
	ReadChildren                 // getChildren2
)

// A NodeRead is what a server said of one node.
type NodeRead struct {
	Path     string
	Data     []byte   // nil unless they were read
	Children []string // their names, unsorted; nil unless they were read
	Stat     *zk.Stat // nil if there is no node, or it may not even be asked for
	Err      error    // why the node was not read: zk.ErrNoNode, zk.ErrNoAuth, …; nil if it was
}
