// Package txnlog reads what ZooKeeper servers have executed, in order: from the transaction logs of real servers
// ([Open], [Read], [ReadEnsemble], [Parse]) and, through zktest's Server.ObserveTransactions, from servers in memory.
// Tests judge by it what clients cannot see, such as when a node was deleted and by which session; tools read logs of
// any size, also damaged ones, with [Open]. It needs nothing but the standard library.
//
// A replay starts with the nodes that each server has of itself: /, /zookeeper, /zookeeper/quota and
// /zookeeper/config. Below /zookeeper/quota servers count usage without transactions.
package txnlog

import (
	"strconv"
	"time"
)

// A Transaction is one write that servers executed. A request that failed is one as well if it used up a zxid.
type Transaction struct {
	Zxid int64
	// At is the time of day, rounded down to a millisecond, at which the leader took the request up: before any client
	// could learn of the outcome.
	At time.Time
	// Session is the one that sent the request, that began, or that ended; 0 if the server itself acted.
	Session int64
	// Request is the client's number of the request, its xid; 0 if no client asked.
	Request int32
	// Changes are in the order of execution. A failed request, a check and the begin of a session have none.
	Changes []Change
	// Failed says that the request was refused. A multi of which a part was refused has failed.
	Failed bool
	// EndsSession says that Session ended. The deletions of its ephemeral nodes are in Changes.
	EndsSession bool
}

// A Change is what a transaction does to one node.
type Change struct {
	Kind Kind
	Path string
	// Owner is the session that an ephemeral node belongs to, of Created and of Deleted; 0 if the node is not
	// ephemeral. Read, ReadEnsemble and Parse do not know the owner of a Deleted node whose creation they have not
	// read.
	Owner int64
	// Data is the node's content after Created and DataSet; nil if the request had none. Readers must not modify it.
	Data []byte
}

// Kind says what a Change does.
type Kind uint8

// The kinds of changes.
const (
	Created Kind = iota + 1
	Deleted
	DataSet
	ACLSet
)

// String returns the name of the constant, such as "Created".
func (k Kind) String() string {
	switch k {
	case Created:
		return "Created"
	case Deleted:
		return "Deleted"
	case DataSet:
		return "DataSet"
	case ACLSet:
		return "ACLSet"
	}
	return "Kind(" + strconv.Itoa(int(k)) + ")"
}
