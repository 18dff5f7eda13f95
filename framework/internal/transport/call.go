package transport

import (
	"time"

	"github.com/go-zookeeper/zk"
)

// A Call is one request that this package sends by itself. It is sent once, by [Transport.Send], and completed once: by
// its answer, or with [ErrBroken] when the connection ends. Completions of one Transport come one at a time, in the
// order of the answers, and must not block.
type Call struct {
	op    int32
	kind  int32 // the kind of a node that is created
	ops   []Op  // a transaction's parts
	added bool  // an authorization that may be refused
	came  int   // length of its answer's frame
	body  encoder
	done  completion
	space [128]byte // for the body, unless it is longer: one allocation a call
}

func newCall(op int32, done completion) *Call {
	c := &Call{op: op, done: done}
	c.body = c.space[:0]
	return c
}

// frame appends the call to out as it goes over the wire.
func (c *Call) frame(out []byte, xid int32) []byte {
	e := encoder(out)
	e.int32(int32(8 + len(c.body)))
	e.int32(xid)
	e.int32(c.op)
	return append(e, c.body...)
}

// Size is the length of the call's frame as the server counts it.
func (c *Call) Size() int { return 8 + len(c.body) }

// Sent is how many bytes the call is on the wire.
func (c *Call) Sent() int { return 4 + c.Size() }

// Received is how many bytes its answer was on the wire. It is for after the call's completion, and 0 if no answer
// came, or one that was too long.
func (c *Call) Received() int { return c.came }

// A Reach says which servers had a part in an answer. A greater one includes the smaller ones.
type Reach int

const (
	// ReachServer means that the server at hand may have answered alone.
	ReachServer Reach = iota
	// ReachLeader means that the server at hand was connected with a leader, which may have been deposed.
	ReachLeader
	// ReachMajority means that a majority of the servers wrote the request down.
	ReachMajority
)

// reach says which servers must have had a part in an answer to op with that code.
//
// A write that fails is proposed and written down all the same, as a transaction that says so
// (org.apache.zookeeper.server.PrepRequestProcessor.pRequest, OpCode.error). Refusals with other codes may be given by
// the server at hand.
func reach(op, code int32) Reach {
	switch op {
	case opCreate, opCreate2, opCreateContainer, opCreateTTL, opDelete, opSetData, opSetACL, opMulti:
		if code == 0 || codeFirstTransaction <= code && code <= codeLastTransaction {
			return ReachMajority
		}
	case opSync:
		if code == 0 {
			return ReachLeader
		}
	}
	return ReachServer
}

// Kinds of nodes, in the numbers of the protocol.
const (
	Persistent           = 0
	Ephemeral            = 1
	PersistentSequential = 2
	EphemeralSequential  = 3
	Container            = 4
	TTL                  = 5
	TTLSequential        = 6
)

// Create makes a node of the given kind and returns its path and Stat. ttl counts for kinds with a TTL only.
func Create(path string, data []byte, acl []zk.ACL, kind int32, ttl time.Duration, done func(path string, stat *zk.Stat, err error)) *Call {
	c := newPathCall(opCreate2, path, createDone(done))
	c.body.bytes(data)
	c.body.acl(acl)
	c.body.int32(kind)
	c.kind = kind
	switch kind {
	case Container:
		c.op = opCreateContainer
	case TTL, TTLSequential:
		c.op = opCreateTTL
		c.body.int64(ttl.Milliseconds())
	}
	return c
}

// CreateBare is [Create] at servers that do not return a new node's Stat: done gets nil in its place. It knows the
// first four kinds.
func CreateBare(path string, data []byte, acl []zk.ACL, kind int32, done func(path string, stat *zk.Stat, err error)) *Call {
	c := Create(path, data, acl, kind, 0, done)
	c.op = opCreate
	return c
}

// path is a request's path, "" if it has none.
func (c *Call) path() string {
	switch c.op {
	case opMulti, opSetAuth, opSetWatches, opClose:
		return ""
	default:
		return string(pathOf(c.body))
	}
}

// Delete removes a node of the given version; -1 is any.
func Delete(path string, version int32, done func(err error)) *Call {
	c := newPathCall(opDelete, path, errorDone(done))
	c.body.int32(version)
	return c
}

// Sync asks the server to catch up with the leader: later reads on this connection see all that was written before.
func Sync(path string, done func(err error)) *Call {
	return newPathCall(opSync, path, errorDone(done))
}

// Children lists the children of a node. With watch the server reports the next change among them.
func Children(path string, watch bool, done func(children []string, stat *zk.Stat, err error)) *Call {
	c := newPathCall(opGetChildren2, path, childrenDone(done))
	c.body.bool(watch)
	return c
}

// Get reads a node. With watch the server reports its next change or deletion, if the node exists.
func Get(path string, watch bool, done func(data []byte, stat *zk.Stat, err error)) *Call {
	c := newPathCall(opGetData, path, dataDone(done))
	c.body.bool(watch)
	return c
}

// Exists reads a node's Stat. With watch the server reports its next creation, change or deletion, also if the node is
// missing now.
func Exists(path string, watch bool, done func(stat *zk.Stat, err error)) *Call {
	c := newPathCall(opExists, path, statDone(done))
	c.body.bool(watch)
	return c
}

// Set replaces the data of a node of the given version; -1 is any.
func Set(path string, data []byte, version int32, done func(stat *zk.Stat, err error)) *Call {
	c := newPathCall(opSetData, path, statDone(done))
	c.body.bytes(data)
	c.body.int32(version)
	return c
}

// GetACL reads who may do what with a node.
func GetACL(path string, done func(acl []zk.ACL, stat *zk.Stat, err error)) *Call {
	return newPathCall(opGetACL, path, aclDone(done))
}

// SetACL replaces who may do what with a node whose ACL has the given version; -1 is any.
func SetACL(path string, acl []zk.ACL, version int32, done func(stat *zk.Stat, err error)) *Call {
	c := newPathCall(opSetACL, path, statDone(done))
	c.body.acl(acl)
	c.body.int32(version)
	return c
}

// A WatchType names a table of watches at the server, in the numbers of removeWatches.
type WatchType int32

// The tables that [RemoveWatches] knows.
const (
	ChildWatch WatchType = 1
	DataWatch  WatchType = 2
	AnyWatch   WatchType = 3
	TreeWatch  WatchType = 5 // since 3.9; before, the answer is [ErrMarshalling]
)

// WatchTree lets the server report each creation, deletion and change of data of a node and of all nodes below it,
// whether they exist or not, until [RemoveWatches]. Before 3.9 a path has one watch of each connection in each table,
// the newest.
func WatchTree(path string, done func(err error)) *Call {
	const recursive = 1
	c := newPathCall(opAddWatch, path, errorDone(done))
	c.body.int32(recursive)
	return c
}

// SetWatches watches the data and the existence of several nodes in one request. The events of nodes that are missing,
// or have changed in a transaction after zxid, come before the answer; those get no watch. The server asks for no
// permission.
func SetWatches(zxid int64, paths []string, done func(err error)) *Call {
	c := newCall(opSetWatches, errorDone(done))
	c.body.int64(zxid)
	c.body.int32(int32(len(paths)))
	for _, path := range paths {
		c.body.string(path)
	}
	c.body.int32(0) // none that must be missing
	c.body.int32(0) // none for their children
	return c
}

// RemoveWatches takes this connection's watch off a node.
func RemoveWatches(path string, table WatchType, done func(err error)) *Call {
	c := newPathCall(opRemoveWatches, path, errorDone(done))
	c.body.int32(int32(table))
	return c
}

// Ping asks for a sign of life. The server answers by itself, but not before it has answered earlier requests of this
// session.
func Ping(done func(err error)) *Call { return newCall(opPing, errorDone(done)) }

func closeSession(done func(err error)) *Call { return newCall(opClose, errorDone(done)) }

func setAuth(auth Auth) *Call {
	c := newCall(opSetAuth, errorDone(func(error) {}))
	c.body.int32(0)
	c.body.string(auth.Scheme)
	c.body.bytes(auth.Credentials())
	return c
}

func newPathCall(op int32, path string, done completion) *Call {
	c := newCall(op, done)
	c.body.string(path)
	return c
}
