package txnlog

import "math"

// A cut is a range of zxids of which the logs of several servers do not show that it was executed.
type cut struct {
	first, last int64
	// kind is Deposed if it was not executed, and Unproven if the logs that would show it are missing.
	kind NoteKind
}

// cutsOf goes from one epoch to the one before it. What a leader knew of an earlier epoch stands before its own first
// transaction. That proves that the rest was not executed, unless a server that may have led has lost this part of its
// log, or a snapshot has more. executed are the zxids of snapshots.
func cutsOf(e epochs, executed []int64) (cuts []cut) {
	newer, ok := e.lastEpoch(math.MaxInt64)
	for ok {
		begin := newer << 32
		end, first := e.lastBefore(newer)
		switch c := (cut{end + 1, begin - 1, Deposed}); {
		case end == 0: // no log has both
			if newer, ok = e.lastEpoch(newer); ok {
				cuts = append(cuts, cut{max(newer<<32, e.most[newer]+1), begin - 1, Unproven})
			}
			continue
		case first != begin+1 || e.beginsAfter(end) || anyBetween(executed, end, begin):
			c.kind = Unproven
			fallthrough
		default:
			cuts = append(cuts, c)
		}
		newer = epoch(end)
	}
	return cuts
}

// lastEpoch returns the last epoch before another that a log has transactions of.
func (e *epochs) lastEpoch(before int64) (last int64, ok bool) {
	for _, spans := range e.of {
		for _, s := range spans {
			if n := epoch(s.first); n < before && (!ok || n > last) {
				last, ok = n, true
			}
		}
	}
	return last, ok
}

// beginsAfter reports whether the log of a server begins after a zxid.
func (e *epochs) beginsAfter(zxid int64) bool {
	for _, spans := range e.of {
		if len(spans) > 0 && spans[0].first > zxid {
			return true
		}
	}
	return false
}

// anyBetween reports whether one of the zxids of snapshots is that of a transaction between two others.
func anyBetween(executed []int64, after, before int64) bool {
	for _, zxid := range executed {
		if zxid > after && zxid < before && isTransaction(zxid) {
			return true
		}
	}
	return false
}

// isTransaction reports whether a zxid is that of a transaction. A snapshot at the beginning of an epoch has a zxid
// whose lower half is zero, which no transaction has.
func isTransaction(zxid int64) bool { return uint32(zxid) != 0 }
