package zktest

import (
	"slices"
)

// write executes a single modification.
func (c *conn) write(op Op, d *decoder, out *encoder) code {
	w := readWrite(op, d)
	old := c.srv.cfg.version.before(version{3, 9, 0})
	switch {
	case old && op == OpDeleteContainer: // it takes the whole frame for a path
		c.begin(nil).fail()
		return codeBadArguments
	case old && d.bad:
		c.begin(nil).fail()
		return codeMarshalling
	case d.bad:
		return codeMarshalling
	}
	t := c.begin(c.auth)
	r := t.step(w)
	if r.err != 0 {
		t.fail()
		return r.err
	}
	t.commit()
	switch op {
	case OpCreate:
		out.string(r.path)
	case OpCreate2, OpCreateContainer, OpCreateTTL:
		out.string(r.path)
		out.stat(r.stat)
	case OpSetData, OpSetACL:
		out.stat(r.stat)
	}
	return 0
}

// writeOp is a decoded modification, alone or in a multi.
type writeOp struct {
	op      Op
	node    newNode // path, data and acl also serve the other kinds
	version int32
}

type writeResult struct {
	path string
	stat Stat
	err  code
}

func readWrite(op Op, d *decoder) writeOp {
	w := writeOp{op: op}
	w.node.path = d.path()
	switch op {
	case OpCreate, OpCreate2, OpCreateContainer, OpCreateTTL:
		w.node.data = slices.Clone(d.bytes())
		w.node.acl = d.acl()
		w.node.flags = d.int32()
		if op == OpCreateTTL {
			w.node.ttl = d.int64()
		}
	case OpDelete, OpCheck:
		w.version = d.int32()
	case OpDeleteContainer:
	case OpSetData:
		w.node.data = slices.Clone(d.bytes())
		w.version = d.int32()
	case OpSetACL:
		w.node.acl = d.acl()
		w.version = d.int32()
	default:
		d.bad = true
	}
	return w
}

// step performs one modification within the transaction.
func (t *txn) step(w writeOp) (r writeResult) {
	switch w.op {
	case OpDelete:
		r.err = t.delete(w.node.path, w.version)
	case OpDeleteContainer:
		r.err = t.deleteContainer(w.node.path)
	case OpCheck:
		r.err = t.check(w.node.path, w.version)
	case OpSetData:
		r.stat, r.err = t.setData(w.node.path, w.node.data, w.version)
	case OpSetACL:
		r.stat, r.err = t.setACL(w.node.path, w.node.acl, w.version)
	default:
		if r.path, r.err = t.create(w.op, w.node); r.err == 0 {
			r.stat = t.st.tree.nodes[r.path].stat()
		}
	}
	return r
}
