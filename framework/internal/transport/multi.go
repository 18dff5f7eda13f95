package transport

import (
	"github.com/go-zookeeper/zk"
)

// An Op is one part of a transaction.
type Op struct {
	op   int32
	kind int32 // the kind of a node that is created
	body encoder
}

// CreateOp is [Create] as a part of a transaction, which supports only the first four kinds.
func CreateOp(path string, data []byte, acl []zk.ACL, kind int32) Op {
	c := Create(path, data, acl, kind, 0, nil)
	// create, not create2: servers before 3.9 answer a create2 inside a transaction without its Stat.
	return Op{op: opCreate, kind: kind, body: c.body}
}

// DeleteOp is [Delete] as a part of a transaction.
func DeleteOp(path string, version int32) Op {
	return Op{op: opDelete, body: Delete(path, version, nil).body}
}

// SetOp is [Set] as a part of a transaction.
func SetOp(path string, data []byte, version int32) Op {
	return Op{op: opSetData, body: Set(path, data, version, nil).body}
}

// CheckOp lets a transaction fail unless the node is there with that version; -1 is any.
func CheckOp(path string, version int32) Op {
	return Op{op: opCheck, body: Delete(path, version, nil).body}
}

// An OpResult is what became of one part of a transaction.
type OpResult struct {
	Path string   // a created node's
	Stat *zk.Stat // a set node's
	Err  error    // why the part failed; parts after the failing one say zk.ErrAPIError

	kind int32 // the result's kind, in the protocol's numbers
}

// The end of a transaction's parts, in both directions.
const multiEnd = -1

// codeRuntimeInconsistency is given to the parts after the one that failed.
const codeRuntimeInconsistency = -2

// Multi does all its parts or none. If the transaction fails, err is nil and the results show which part was the
// reason.
func Multi(ops []Op, done func(results []OpResult, err error)) *Call {
	c := newCall(opMulti, multiDone(done))
	c.ops = ops
	for _, op := range ops {
		c.body.multiHeader(op.op, false)
		c.body = append(c.body, op.body...)
	}
	c.body.multiHeader(multiEnd, true)
	return c
}

func (e *encoder) multiHeader(op int32, last bool) {
	e.int32(op)
	e.bool(last)
	e.int32(-1)
}

// multi reads the results of a transaction. It stops at one more than there are parts, which is garbage.
func (d *decoder) multi(ops []Op) []OpResult {
	var results []OpResult
	for d.err == nil && len(results) <= len(ops) {
		op, last := d.int32(), d.bool()
		_ = d.int32() // the error stands again in the record
		if last || d.err != nil {
			break
		}
		r := d.multiResult(op)
		if i := len(results); i < len(ops) && r.Err == zk.ErrNoAuth { //nolint:errorlint // as toError has just given it
			r.Err = noAuth(ops[i].op, ops[i].body)
		}
		results = append(results, r)
	}
	return results
}

func (d *decoder) multiResult(op int32) (r OpResult) {
	r.kind = op
	switch op {
	case multiEnd:
		switch code := d.int32(); code {
		case 0:
		case codeRuntimeInconsistency:
			r.Err = zk.ErrAPIError
		default:
			r.Err = toError(code)
		}
	case opCreate:
		r.Path = d.string()
	case opSetData:
		r.Stat = d.stat()
	case opDelete, opCheck:
	default:
		d.fail(garbage("a result of the unknown kind %d in a transaction", op))
	}
	return r
}
