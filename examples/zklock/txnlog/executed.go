package txnlog

import (
	"cmp"
	"math"
	"slices"
)

// executed are the transactions that an ensemble has executed, of several logs. The log of one server alone is
// believed.
type executed struct {
	servers []serverFiles
	electorate
	unseen []span // where transactions may be missing, the latest first
	note   func(Note)
	// judge returns what is to be said of a transaction that an ensemble may not have executed, and "" of the others.
	// It is nil if there is one log. What is Deposed is left out.
	judge func(zxid int64) NoteKind
	until int64 // later transactions were written meanwhile

	checkRest bool // the ends of logs are examined

	rows map[rowKey]*Note
}

// A rowKey is for the transactions in a row of which the same is to be said.
type rowKey struct {
	server int
	kind   NoteKind
}

// newExecuted leaves out all that the logs do not show to have been executed. It reads the logs of several servers
// once.
func newExecuted(servers []serverFiles, note func(Note)) *executed {
	of := electorateOf(servers, nil)
	x := &executed{servers: servers, electorate: of, note: note, until: math.MaxInt64, rows: map[rowKey]*Note{}}
	if len(servers) > 1 {
		ends := endsOf(newEpochs(servers, of))
		x.judge = func(zxid int64) NoteKind {
			if zxid <= ends[epoch(zxid)] {
				return ""
			}
			return Deposed
		}
	}
	return x
}

// newLikely leaves out only what was not executed, by all that the logs and the zxids of snapshots show; apart are
// directories without logs. It reads the logs of several servers once.
func newLikely(servers, apart []serverFiles, snapshots []int64, note func(Note)) *executed {
	of := electorateOf(servers, apart)
	x := &executed{servers: servers, electorate: of, note: note, until: math.MaxInt64, rows: map[rowKey]*Note{}}
	if len(servers) > 1 {
		e := newEpochs(servers, of)
		if haveApart(servers, apart) {
			e.apart = apart
		}
		var cuts []cut
		cuts, x.unseen = cutsOf(e, snapshots)
		slices.Reverse(cuts)
		x.until = e.last
		x.judge = func(zxid int64) NoteKind {
			i, _ := slices.BinarySearchFunc(cuts, zxid, func(c cut, zxid int64) int { return cmp.Compare(c.last, zxid) })
			switch {
			case i < len(cuts) && cuts[i].first <= zxid:
				return cuts[i].kind
			case zxid > e.newest:
				return Unconfirmed
			default:
				return ""
			}
		}
	}
	return x
}

// again reads the same transactions.
func (x *executed) again(note func(Note)) *executed {
	return &executed{servers: x.servers, electorate: x.electorate, judge: x.judge, until: x.until, note: note, rows: map[rowKey]*Note{}}
}

// each calls fn with the cursors that stand on a transaction, one after the other, until fn returns false.
func (x *executed) each(fn func(c *cursor) bool) {
	m := newMerge(x.servers, x.note, x.checkRest)
	defer m.close()
	defer x.noteRows()
	for {
		on := m.next()
		if len(on) == 0 || on[0].zxid() > x.until {
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
	if x.judge == nil {
		return false
	}
	kind := x.judge(on[0].zxid())
	switch {
	case kind == "":
		return false
	case kind == Unconfirmed && x.hasMost(on): // the servers have written on since the first reading
		for server := range x.servers {
			delete(x.rows, rowKey{server, kind})
		}
		return false
	}
	for _, c := range on {
		x.addToRow(c, kind)
	}
	return kind == Deposed
}

func (x *executed) addToRow(c *cursor, kind NoteKind) {
	key, zxid := rowKey{c.server, kind}, c.zxid()
	switch row := x.rows[key]; {
	case row == nil:
	case kind == Unconfirmed, epoch(row.Last) == epoch(zxid):
		row.Last = zxid
		return
	default:
		x.note(*row)
	}
	x.rows[key] = &Note{Kind: kind, File: x.servers[c.server].dir, First: zxid, Last: zxid}
}

func (x *executed) noteRows() {
	for server := range x.servers {
		for _, kind := range []NoteKind{Deposed, Unproven, Unconfirmed} {
			if row := x.rows[rowKey{server, kind}]; row != nil {
				x.note(*row)
			}
		}
	}
	clear(x.rows)
}

// peek calls fn with the first transaction, if there is one, and notes nothing.
func (x *executed) peek(fn func(c *cursor)) {
	x.again(func(Note) {}).each(func(c *cursor) bool { fn(c); return false })
}
