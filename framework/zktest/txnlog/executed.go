package txnlog

import "math"

// executed are the transactions that an ensemble has executed, of several logs. ends has the last one of each epoch;
// nil if there is one log, which is believed.
type executed struct {
	servers []serverFiles
	ends    map[int64]int64
	note    func(Note)

	left map[int]*Note // what was left out last, by server
}

// newExecuted reads the logs of several servers once, to learn which transactions were executed.
func newExecuted(servers []serverFiles, note func(Note)) *executed {
	x := &executed{servers: servers, note: note, left: map[int]*Note{}}
	if len(servers) > 1 {
		x.ends = endsOf(newEpochs(servers))
	}
	return x
}

// each calls fn with the cursors that stand on a transaction, one after the other, until fn returns false.
func (x *executed) each(fn func(c *cursor) bool) {
	m := newMerge(x.servers, x.note)
	defer m.close()
	defer x.noteLeft()
	for {
		on := m.next()
		if len(on) == 0 {
			return
		}
		if x.isLeft(on) {
			continue
		}
		if !fn(on[0]) {
			return
		}
	}
}

// isLeft reports whether a transaction was not executed, and notes what is to be noted of it.
func (x *executed) isLeft(on []*cursor) bool {
	for _, c := range on[1:] {
		if c.head() != on[0].head() {
			x.note(Note{Kind: Differs, File: c.name, First: c.zxid(), Last: c.zxid()})
		}
	}
	if x.ends == nil {
		return false
	}
	zxid := on[0].zxid()
	if zxid <= x.ends[epoch(zxid)] {
		return false
	}
	for _, c := range on {
		x.leave(c, zxid)
	}
	return true
}

// leave counts a transaction that was not executed, and notes a row of them as one.
func (x *executed) leave(c *cursor, zxid int64) {
	if row := x.left[c.server]; row != nil && epoch(row.Last) == epoch(zxid) {
		row.Last = zxid
		return
	} else if row != nil {
		x.note(*row)
	}
	row := Note{Kind: Deposed, File: x.servers[c.server].dir, First: zxid, Last: zxid}
	newest := int64(math.MinInt64)
	for _, end := range x.ends {
		newest = max(newest, end)
	}
	if zxid > newest {
		row.Kind = Unconfirmed
	}
	x.left[c.server] = &row
}

func (x *executed) noteLeft() {
	for server := range x.servers {
		if row := x.left[server]; row != nil {
			x.note(*row)
		}
	}
	clear(x.left)
}

// peek calls fn with the first transaction, if there is one, and notes nothing.
func (x *executed) peek(fn func(c *cursor)) {
	quiet := &executed{servers: x.servers, ends: x.ends, note: func(Note) {}, left: map[int]*Note{}}
	quiet.each(func(c *cursor) bool { fn(c); return false })
}
