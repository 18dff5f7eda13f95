package zktest

import (
	"strconv"
	"time"
)

// A Transaction is one write that the server executed. A request that failed is a transaction too, if it used up a zxid.
type Transaction struct {
	Zxid int64
	// At is the time of day at which the leader accepted the request, rounded down to a millisecond. No client can have
	// learned the outcome before then.
	At time.Time
	// Session is the session that sent the request, that began, or that ended. It is 0 if the server itself acted.
	Session int64
	// Request is the client's number of the request, its xid. It is 0 if no client asked.
	Request int32
	// Changes are in the order of execution. A failed request, a check and the begin of a session have none.
	Changes []Change
	// Failed reports that the request was refused. A multi fails as a whole if one part was refused.
	Failed bool
	// EndsSession reports that Session ended. Changes has the deletions of its ephemeral nodes.
	EndsSession bool
}

// A Change is what a transaction does to one node.
type Change struct {
	Kind ChangeKind
	Path string
	// Owner is the session that owns the ephemeral node, for Created and Deleted. It is 0 if the node is not ephemeral.
	Owner int64
	// Data is the node's content after Created and DataSet. It is nil if the request had none. Readers must not modify it.
	Data []byte
}

// ChangeKind says what a Change does.
type ChangeKind uint8

// The kinds of changes.
const (
	Created ChangeKind = iota + 1
	Deleted
	DataSet
	ACLSet
)

// String returns the name of the constant, such as "Created".
func (k ChangeKind) String() string {
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
	return "ChangeKind(" + strconv.Itoa(int(k)) + ")"
}
