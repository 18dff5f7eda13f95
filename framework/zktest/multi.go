package zktest

// multi executes all steps or none. Its reply header says success either way:
// what failed stands in the results.
func (c *conn) multi(d *decoder, out *encoder) code {
	t := c.begin(c.auth) // before decoding: a broken multi uses up a zxid
	steps := readMulti(d)
	if d.bad {
		t.fail()
		return codeMarshalling
	}
	results := make([]writeResult, len(steps))
	for i, w := range steps {
		results[i] = t.step(w)
		if results[i].err != 0 {
			t.rollback()
			encodeFailure(out, len(steps), i, results[i].err)
			return 0
		}
	}
	t.commit()
	for i, w := range steps {
		if w.op == OpCreate2 && !c.srv.cfg.version.statInMulti() {
			w.op = OpCreate
		}
		encodeResult(out, w.op, results[i])
	}
	multiHeader(out, -1, true, -1)
	return 0
}

func multiHeader(out *encoder, op Op, done bool, err code) {
	out.int32(int32(op))
	out.bool(done)
	out.int32(int32(err))
}

// readMulti decodes the steps, none of which may be a read.
func readMulti(d *decoder) (steps []writeOp) {
	for {
		op, more := d.multiHeader()
		if !more {
			return steps
		}
		if op == OpGetChildren || op == OpGetData {
			d.bad = true
			return nil
		}
		steps = append(steps, readStep(op, d))
	}
}

// multiHeader returns the next step's kind, unless that was the last one.
func (d *decoder) multiHeader() (op Op, more bool) {
	op, done := Op(d.int32()), d.bool()
	d.int32()
	return op, !done && !d.bad
}

// readStep decodes one modification of a multi. A create with the container
// flag becomes a container here, although the same request on its own makes a
// plain node.
func readStep(op Op, d *decoder) writeOp {
	switch op {
	case OpCreate, OpCreate2, OpCreateContainer, OpCreateTTL, OpDelete, OpSetData, OpCheck:
	default:
		d.bad = true
		return writeOp{}
	}
	w := readWrite(op, d)
	if op == OpCreate || op == OpCreate2 {
		switch flags := w.node.flags; {
		case flags == flagContainer:
			w.op = OpCreateContainer
		case flags >= flagTTL || flags < 0:
			d.bad = true // the real server misses the time to live
		}
	}
	return w
}

func encodeResult(out *encoder, op Op, r writeResult) {
	switch op {
	case OpCreate:
		multiHeader(out, OpCreate, false, 0)
		out.string(r.path)
	case OpCreate2, OpCreateContainer, OpCreateTTL:
		multiHeader(out, OpCreate2, false, 0)
		out.string(r.path)
		out.stat(r.stat)
	case OpSetData:
		multiHeader(out, OpSetData, false, 0)
		out.stat(r.stat)
	default:
		multiHeader(out, op, false, 0)
	}
}

// encodeFailure marks the steps before the one that failed as fine, those
// after it as never tried.
func encodeFailure(out *encoder, steps, failed int, err code) {
	for i := range steps {
		var e code
		switch {
		case i == failed:
			e = err
		case i > failed:
			e = codeRuntimeInconsistency
		}
		multiHeader(out, -1, false, e)
		out.int32(int32(e))
	}
	multiHeader(out, -1, true, -1)
}

// getOp is a decoded read of a multiRead.
type getOp struct {
	op   Op
	path string
}

// readGets decodes the steps of a multiRead, and reports whether some are modifications.
func readGets(d *decoder) (gets []getOp, writes bool) {
	for {
		op, more := d.multiHeader()
		if !more {
			return gets, writes
		}
		if op != OpGetChildren && op != OpGetData {
			readStep(op, d)
			writes = true
			continue
		}
		path := d.string()
		d.bool() // a watch flag has no effect here
		gets = append(gets, getOp{op, path})
	}
}

// multiRead answers each read on its own: one that fails harms no other. If
// all steps are modifications, the end of a list of answers stands behind the
// error.
func (c *conn) multiRead(d *decoder, out *encoder) code {
	gets, writes := readGets(d)
	switch {
	case d.bad, writes && len(gets) > 0:
		return codeMarshalling
	case writes:
		multiHeader(out, -1, true, -1)
		return codeMarshalling
	}
	for _, g := range gets {
		mark := len(out.b)
		multiHeader(out, g.op, false, 0)
		if err := c.get(g.op, g.path, c.srv.view.find(g.path), false, out); err != 0 {
			out.b = out.b[:mark]
			multiHeader(out, -1, false, err)
			out.int32(int32(err))
		}
	}
	multiHeader(out, -1, true, -1)
	return 0
}
